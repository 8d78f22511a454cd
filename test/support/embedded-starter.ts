import { startEmbedded } from "../../src/store/embedded.ts";

/** Run as a process: starts the embedded Redis of the directory it is given, says `up`, and stays until it is killed. */
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const [, , stateDir = ""] = process.argv;
await startEmbedded({ stateDir, searchPath: process.env["PATH"] ?? "", logger: quiet });
process.stdout.write("up\n");
setInterval(() => undefined, 60_000);
