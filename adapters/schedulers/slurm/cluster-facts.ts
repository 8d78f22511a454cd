/** What `scontrol show config` says of a cluster; null where it says nothing. */
export type ClusterFacts = {
  readonly version: string | null;
  readonly clusterName: string | null;
  /** Ended jobs can be asked for with sacct. */
  readonly accounting: boolean;
  /** How long the controller keeps ended jobs, in seconds; 0 is for ever. */
  readonly minJobAgeSeconds: number | null;
  /** From TERM to KILL, in seconds. */
  readonly killWaitSeconds: number | null;
  /** Jobs are requeued unless they ask not to be. */
  readonly jobRequeue: boolean | null;
  /** NO (impossible requests wait for ever), ANY or ALL; YES is what older versions call ALL. */
  readonly enforcePartLimits: string | null;
  /** What users cannot see of each other, in lower case: `jobs`, `usage`, …; empty when nothing is hidden. */
  readonly privateData: readonly string[];
  /** Controllers that may have taken a request, backups included; 0 when that is not told. */
  readonly controllers: number;
  /** `proctrack/cgroup`, … */
  readonly proctrack: string | null;
  readonly messageTimeoutSeconds: number | null;
  /** Whether a requeued job's output file is appended to, unless --open-mode says so. */
  readonly jobFileAppend: boolean | null;
};

/** Reads `Name = value` lines, of any version; other lines count for nothing. */
export function parseClusterFacts(text: string): ClusterFacts {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ""] = /^\s*([\w[\]]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) values.set(name.toLowerCase(), value);
  }
  const get = (name: string) => {
    const value = values.get(name.toLowerCase());
    return value === undefined || value === "" || value === "(null)" ? null : value;
  };
  return {
    version: get("SLURM_VERSION"),
    clusterName: get("ClusterName"),
    accounting: /^accounting_storage\/(?!none)/.test(get("AccountingStorageType") ?? ""),
    minJobAgeSeconds: seconds(get("MinJobAge")),
    killWaitSeconds: seconds(get("KillWait")),
    jobRequeue: truth(get("JobRequeue")),
    enforcePartLimits: get("EnforcePartLimits")?.toUpperCase() ?? null,
    privateData: privateData(get("PrivateData")),
    controllers: [...values.keys()].filter((name) => name.startsWith("slurmctldhost[")).length,
    proctrack: get("ProctrackType"),
    messageTimeoutSeconds: seconds(get("MessageTimeout")),
    jobFileAppend: truth(get("JobFileAppend")),
  };
}

function seconds(value: string | null): number | null {
  const digits = /^(\d+)(?:\s*sec)?$/.exec(value ?? "")?.[1];
  return digits === undefined ? null : Number(digits);
}

function truth(value: string | null): boolean | null {
  return value === "1" ? true : value === "0" ? false : null;
}

function privateData(value: string | null): string[] {
  const words = (value ?? "").toLowerCase().split(",");
  return words.map((word) => word.trim()).filter((word) => word !== "" && word !== "none");
}
