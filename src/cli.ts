#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { z } from "zod";

const Manifest = z.object({ version: z.string() });
const { version } = Manifest.parse(
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")),
);

await new Command("tailrace")
  .description("Turns batch and HPC jobs into MCP Tasks")
  .version(version)
  .parseAsync();
