/** What a command sees of the process that it runs in. */
export type Shell = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly pid: number;
  /** Writes to stdout: what the command was asked for, and nothing else. */
  print(line: string): void;
  /** Writes to stderr: progress, warnings and failures. */
  tell(line: string): void;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
};

export function shellOf(process: NodeJS.Process): Shell {
  const { stdout, stderr, stdin, env, pid } = process;
  return {
    env,
    cwd: process.cwd(),
    pid,
    print: (line) => void stdout.write(`${line}\n`),
    tell: (line) => void stderr.write(`${line}\n`),
    stdout,
    stderr,
    stdin,
  };
}
