import { readFileSync } from "node:fs";

/** The version in package.json, two folders above both this source and its build (dist/src/observe). */
export const VERSION = readVersion(["../../package.json", "../../../package.json"]);

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8"));
      const version: unknown =
        typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, "version") : undefined;
      if (typeof version === "string") return version;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  throw new Error("package.json is missing beside the program: the installation is incomplete");
}
