/** What sbatch says, beginning with the most telling, and what it means to whoever wrote the request. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/unspecified error/i, "a rule of the site refuses the job"],
  [/invalid partition/i, "the cluster has no such partition"],
  [/invalid account/i, "the account is unknown, not yours, or not for this partition"],
  [/invalid qos/i, "the QOS is unknown, or your account may not use it"],
  [/group not permitted/i, "you may not use this partition"],
  [/access\/permission denied/i, "you may not submit such a job here"],
  [/more processors requested/i, "it asks for more CPUs than the partition has"],
  [/node count specification invalid/i, "it asks for more or fewer nodes than the partition allows"],
  [/time limit is invalid/i, "its walltime is over the partition's limit, or its deadline cannot be met"],
  [/memory specification/i, "no node has that much memory"],
  [
    /node configuration is not available|required node not available/i,
    "no nodes of the partition fit the request",
  ],
  [/requested nodes not in this partition/i, "the nodes it names are not in this partition"],
  [/invalid node name/i, "the cluster has no node of that name"],
  [/invalid feature/i, "no node has the feature that its constraint names"],
  [/invalid generic resource|\bgres\b/i, "the cluster has no such GPUs or other devices"],
  [/invalid license/i, "the cluster has no such licences, or not as many"],
  [/reservation is invalid|invalid reservation/i, "there is no such reservation, or it is not yours"],
  [/dependency/i, "a job it depends on does not exist"],
  [/partition not available|partition.* (?:inactive|drain|down)/i, "the partition takes no jobs now"],
  [/accounting\/qos policy/i, "a limit of your account or QOS forbids a job of this size"],
  [
    /unrecognized option|invalid option|unknown option/i,
    "this cluster's sbatch does not know one of the options",
  ],
  [/too long/i, "the script or one of the options is too long"],
  [/unable to open file|batch script|dos line breaks/i, "the batch script cannot be used"],
  [/no cluster|--cluster/i, "Slurm knows no cluster of that name, or cannot reach it"],
  [
    /invalid\b.*\bspecification|invalid numeric value/i,
    "one of the options has a value that sbatch does not take",
  ],
];

/**
 * The refusal in plain words, then everything that Slurm and the site's own rules said. Where Slurm names the failure,
 * that is what is put into words: a note of the site may hold any.
 */
export function refusalText(said: readonly string[]): string {
  const own = said.join("; ");
  const failure = said.find((line) => line.includes("submission failed: "));
  const plain = REFUSALS.find(([pattern]) => pattern.test(failure ?? own))?.[1] ?? "Slurm refuses the job";
  return own === "" ? plain : `${plain}. Slurm says: ${own}`;
}

const OF_NO_USE = /^Try "sbatch --help"|temporarily unable to accept job, sleeping and retrying/;

/** Each line of sbatch's stderr once, without its prefix; also the notes of the site's job_submit plugins. */
export function linesOf(stderr: string): string[] {
  const lines = stderr
    .split(/\r?\n/)
    .map((line) => line.replace(/^(?:sbatch: )?(?:error: |fatal: )?/, "").trim())
    .filter((line) => line !== "" && !OF_NO_USE.test(line));
  return [...new Set(lines)].map((line) => line.slice(0, 500)).slice(0, 20);
}
