import pc from "picocolors";
import { jsonText } from "../display/text.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type ConfigOptions, readUsableSettings } from "../settings.ts";
import type { Shell } from "../shell.ts";
import { checkAccess } from "./access.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { findingText } from "./finding-text.ts";
import { checkStore } from "./store.ts";
import { checkTargets } from "./targets.ts";
import { checkTools } from "./tools.ts";

export type DoctorOptions = ConfigOptions & { readonly json?: boolean };

const COLOUR = { ok: pc.green, warn: pc.yellow, fail: pc.red } as const;

/** Looks at everything that a server needs and says what to do about each fault. Changes nothing. */
export async function runDoctor(options: DoctorOptions, shell: Shell): Promise<ExitCode> {
  const { settings, warnings, file } = await readUsableSettings(options, shell);
  const { ok, warn } = findingsOf("config");
  const findings: Finding[] = [
    ok("configuration", file ?? "no file: the defaults"),
    ...warnings.map((warning) => warn("configuration", warning, "see docs/config.md")),
    ...(await checkAccess(settings)),
    ...(await checkStore(settings)),
    ...(await checkTargets(settings)),
    ...(await checkTools(settings, shell.env["PATH"] ?? "")),
  ];
  for (const finding of findings) {
    if (options.json === true) shell.print(jsonText(finding));
    else shell.print(findingText(finding, COLOUR[finding.status]));
  }
  return findings.some(({ status }) => status === "fail") ? EXIT.failure : EXIT.ok;
}
