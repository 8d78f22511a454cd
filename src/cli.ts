#!/usr/bin/env node
import { runCli } from "./cli/program.ts";
import { shellOf } from "./cli/shell.ts";

// A pipe that was closed early (`| head`) is no failure of ours; the job and the server do not depend on it.
process.stdout.on("error", () => process.exit(0));
process.exit(await runCli(process.argv.slice(2), shellOf(process)));
