import { once } from "node:events";
import { clientOf } from "./front-desk.ts";

/**
 * Run as a process: `many-calls COUNT TOOL ARGUMENTS URL…`. Says `ready`, waits for a line on stdin, makes COUNT calls
 * at once, spread over the URLs, and prints a JSON list of their answers.
 */
const [, , count, tool, args, ...urls] = process.argv;
const clients = urls.map(clientOf);
process.stdout.write("ready\n");
await once(process.stdin, "data");
const answers = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    clients[index % clients.length]?.call("tools/call", {
      name: tool ?? "",
      arguments: JSON.parse(args ?? "{}"),
    }),
  ),
);
process.stdout.write(`${JSON.stringify(answers)}\n`);
process.exit(0);
