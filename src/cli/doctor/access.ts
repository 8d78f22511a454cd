import { stat } from "node:fs/promises";
import { drawnTokenPath, readDrawnToken } from "../../auth/drawn-token.ts";
import { isLoopback } from "../../config/listen.ts";
import type { Settings } from "../../config/settings.ts";
import { type Finding, findingsOf, reason } from "./finding.ts";

const { ok, warn, fail } = findingsOf("access");

/** Who can reach the front desk, and what they need to be let in. */
export async function checkAccess(settings: Settings): Promise<Finding[]> {
  const { listen, auth } = settings;
  const where = `${listen.host} port ${listen.port}`;
  const isNear = isLoopback(listen.host);
  return [
    isNear
      ? ok("listen", `${where}: this machine only`)
      : warn(
          "listen",
          `${where}: other machines can reach it`,
          "put TLS in front of it: tokens travel in the clear",
        ),
    ...(await checkAuth(auth, { isNear, stateDir: settings.stateDir })),
    await checkStateDir(settings.stateDir),
  ];
}

async function checkAuth(
  auth: Settings["auth"],
  { isNear, stateDir }: { readonly isNear: boolean; readonly stateDir: string },
): Promise<Finding[]> {
  switch (auth.kind) {
    case "none": {
      const advice = "remove auth: none, and a token is drawn: every user of this machine reaches loopback";
      const found = "none: all callers are one and share keys and tasks";
      return [isNear ? warn("auth", found, advice) : fail("auth", found, advice)];
    }
    case "tokens":
      return [
        ok("auth", `${auth.tokens.length} configured: ${auth.tokens.map(({ name }) => name).join(", ")}`),
      ];
    case "drawn":
      return [await checkDrawnToken(stateDir)];
    default:
      return auth satisfies never;
  }
}

async function checkDrawnToken(stateDir: string): Promise<Finding> {
  try {
    const token = await readDrawnToken(stateDir);
    return ok("token file", token === null ? "none yet: drawn at the first start" : drawnTokenPath(stateDir));
  } catch (error) {
    return fail(
      "token file",
      reason(error),
      "no server starts, and no client is let in, until this is mended",
    );
  }
}

async function checkStateDir(stateDir: string): Promise<Finding> {
  const { mode } = await stat(stateDir);
  const bits = (mode & 0o777).toString(8);
  if ((mode & 0o022) === 0) return ok("state directory", `${stateDir}, mode ${bits}`);
  return fail(
    "state directory",
    `${stateDir} may be written by others (mode ${bits})`,
    `chmod go-w ${stateDir}`,
  );
}
