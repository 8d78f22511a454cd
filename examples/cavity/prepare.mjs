// What the demo needs on a machine that has only Node: dependencies, the build, and a Redis or Valkey server.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

export function prepare() {
  if (!existsSync(join(ROOT, "node_modules", ".package-lock.json"))) {
    run("Installing dependencies", "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  run("Building", "npm", ["run", "--silent", "build"]);
  if (onPath("redis-server") || onPath("valkey-server")) return;
  if (process.getuid?.() !== 0 || !onPath("apt-get")) {
    fail(
      "redis-server is not installed. Install it and start the demo again: sudo apt-get install redis-server",
    );
  }
  installRedis();
}

/** Only the program is wanted: the package's own service would sit on the default port. */
function installRedis() {
  const script = `set -e
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server >/dev/null`;
  run("Installing redis-server", "sh", ["-c", script]);
}

function run(doing, command, args) {
  process.stdout.write(`${doing} …\n`);
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  if (error !== undefined) fail(`${doing} failed: ${error.message}`);
  if (status !== 0) fail(`${doing} failed: ${command} ${args[0]} ended with exit code ${status}`);
}

function onPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });
}

function fail(message) {
  process.stderr.write(`demo: ${message}\n`);
  process.exit(1);
}
