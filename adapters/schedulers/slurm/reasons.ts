/** What a reason of a pending job comes to. `words` end with Slurm's own words in parentheses; null: nothing to tell. */
export type ToldReason = { readonly held: boolean; readonly words: string | null };

type Rule = { readonly effect: "waits" | "held" | "stuck"; readonly words: string };

const NEW_LIMITS = "ask for less, or use another partition";

/**
 * The reasons that stand alone. `waits`: it starts when its time comes. `held`: somebody must release it. `stuck`: it
 * never starts as it is. Words: `enum job_state_reason` and job_state_reason.c (job_reason_string before 24.11) of
 * Slurm 20.11 to 26.05; meaning: JOB REASON CODES in `man squeue` 22.05 and resource_limits.html.
 */
export const REASONS: Readonly<Record<string, Rule>> = {
  // The ordinary queue
  Priority: waits("other jobs are ahead of it in the queue"),
  Resources: waits("waiting for enough free nodes, processors or memory"),
  Prolog: waits("its nodes are being prepared"),
  Cleaning: waits("it is being requeued; its last run is still being cleaned up"),
  SchedDefer: waits("waiting for the scheduler to look at it"),
  WaitingForScheduling: waits("waiting for the scheduler to look at it"),
  BeginTime: waits("it may not start before its begin time; a requeued job waits about two minutes"),
  Dependency: waits("waiting for another job that it depends on"),
  Licenses: waits("waiting for a free software licence"),
  Reservation: waits("waiting for its reservation to begin"),
  JobArrayTaskLimit: waits("its array already runs as many tasks at once as it allows"),
  MpiPortsBusy: waits("waiting for free network ports for MPI"),
  MaxPoweredUpNodes: waits("as many nodes are powered up as the cluster allows"),
  FedJobLock: waits("another cluster of the federation is just trying to start it"),
  BurstBufferResources: waits("waiting for room in the burst buffer"),
  BurstBufferStageIn: waits("its input is being copied into the burst buffer"),
  PowerNotAvail: waits("waiting for electric power within the cluster's cap"),
  PowerReserved: waits("waiting for electric power that is reserved for others"),
  FrontEndDown: waits("the front-end nodes are down; the administrators must bring one back"),
  BlockMaxError: waits("too many errors on its hardware block; ask the administrators"),
  BlockFreeAction: waits("its hardware block is being freed"),
  // Limits of an account or QOS that others' or one's own jobs use up
  AssociationJobLimit: waits("your account already runs as many jobs as it may"),
  AssociationResourceLimit: waits("your account has reached one of its limits"),
  AssociationTimeLimit: waits("your account has used up its time"),
  QOSJobLimit: waits("its QOS already runs as many jobs as it may"),
  QOSResourceLimit: waits("its QOS has reached one of its limits"),
  QOSTimeLimit: waits("its QOS has used up its time"),
  AccountingPolicy: waits("a limit of your account or its QOS holds it back"),
  // Held
  JobHeldUser: held("held by its owner; release it with scontrol release"),
  JobHeldAdmin: held("held by an administrator; only they can release it"),
  JobHoldMaxRequeue: held("held after too many failed starts; find out why, then scontrol release"),
  "job requeued in held state": held("requeued and held; release it with scontrol release"),
  "launch failed requeued held": held(
    "could not be launched and is held; its node needs repair, then scontrol release",
  ),
  // Never as it is
  DependencyNeverSatisfied: stuck("a job it depends on ended the wrong way", "cancel it and submit again"),
  PartitionNodeLimit: stuck("it asks for more nodes than its partition allows or has up", NEW_LIMITS),
  PartitionTimeLimit: stuck(
    "its walltime is over its partition's limit",
    "shorten it or use another partition",
  ),
  PartitionConfig: stuck("no nodes of its partition fit the request", NEW_LIMITS),
  PartitionDown: stuck("its partition is down", "wait for the administrators or use another partition"),
  PartitionInactive: stuck(
    "its partition is inactive",
    "wait for the administrators or use another partition",
  ),
  BadConstraints: stuck("no node has the features or resources it asks for", "correct its constraints"),
  Constraints: stuck("no node has the features or resources it asks for", "correct its constraints"),
  InvalidAccount: stuck("its account is not valid any more", "submit it with another account"),
  InvalidQOS: stuck("its QOS is not valid any more", "submit it with another QOS"),
  AccountNotAllowed: stuck("its account may not use this partition", "change the account or the partition"),
  QOSNotAllowed: stuck("its QOS may not be used here", "change the QOS or the partition"),
  QOSUsageThreshold: stuck(
    "your usage is over the threshold of its QOS",
    "use another QOS or wait for it to fall",
  ),
  MaxMemPerLimit: stuck(
    "it asks for more memory per CPU or node than allowed",
    "ask for less memory or more CPUs",
  ),
  ReqNodeNotAvail: stuck(
    "a node it needs is down, drained or reserved",
    "wait for the node or do without it",
  ),
  NodeDown: stuck("a node it needs is down", "wait for the node or do without it"),
  "Nodes required for job are DOWN": stuck(
    "its nodes are down, drained or reserved",
    "ask the administrators",
  ),
  ReservationDeleted: stuck("its reservation was deleted", "submit it without the reservation"),
  ReservationInvalid: stuck("its reservation does not fit it any more", "submit it without the reservation"),
  BurstBufferOperation: stuck("its burst buffer failed", "ask the administrators"),
  SystemFailure: stuck("a fault of the cluster stops it", "ask the administrators"),
  DeadLine: stuck("it cannot end before its deadline", "set a later deadline"),
};

function waits(words: string): Rule {
  return { effect: "waits", words };
}

function held(words: string): Rule {
  return { effect: "held", words };
}

function stuck(words: string, advice: string): Rule {
  return { effect: "stuck", words: `it will not start as it is: ${words}; ${advice}` };
}

/**
 * The limits of associations and QOS follow one pattern, `QOSMaxCpuMinutesPerJobLimit`, with resources that grew over
 * the versions; the bare `Max…PerAccount` and `Max…RunMinsPerUser` are a QOS's too. Source: as of REASONS.
 */
const LIMIT =
  /^(Assoc|QOS|)(Grp|Max|Min)(WallDuration|Wall|SubmitJobs?|Jobs?|Cpu|CPU|Mem|Memory|Node|GRES|License|BB|Billing|Energy|Unknown)(RunMinutes|RunMins|Minutes|)(PerJob|PerNode|PerUser|PerAccount|)(?:Limit|NotSatisfied|)$/;

const RESOURCES: Readonly<Record<string, string>> = {
  WallDuration: "run time",
  Wall: "run time",
  SubmitJob: "jobs in the queue",
  SubmitJobs: "jobs in the queue",
  Job: "jobs",
  Jobs: "jobs",
  Cpu: "CPUs",
  CPU: "CPUs",
  Mem: "memory",
  Memory: "memory",
  Node: "nodes",
  GRES: "GPUs or other devices",
  License: "licences",
  BB: "burst buffer",
  Billing: "billing units",
  Energy: "energy",
};

function limitRule(word: string): Rule | null {
  const [, owner, bound, resource = "", span = "", scope = ""] = LIMIT.exec(word) ?? [];
  if (bound === undefined) return null;
  const whose = owner === "Assoc" ? "your account" : "its QOS";
  const plain = RESOURCES[resource] ?? "a resource";
  const what = span === "" ? plain : `hours of ${plain}`;
  if (bound === "Min")
    return stuck(`it asks for less ${what} than ${whose} demands`, "ask for more or change the QOS");
  if (scope === "PerJob" || scope === "PerNode") {
    const one = scope === "PerJob" ? "one job" : "one node";
    return stuck(`it asks for more ${what} than ${whose} allows ${one}`, "ask for less");
  }
  if (bound === "Grp" && span === "Minutes")
    return stuck(`the budget of ${what} of ${whose} is used up`, "wait for its renewal or ask for more");
  const per = scope === "PerUser" ? " per user" : scope === "PerAccount" ? " per account" : "";
  return waits(`the limit of ${whose} on ${what}${per} is reached`);
}

/** scontrol writes `_` for the blanks of a reason; no word of Slurm's own has one. */
function ruleOf(part: string): Rule | null {
  const word = part.replaceAll("_", " ").trim();
  return (Object.hasOwn(REASONS, word) ? REASONS[word] : undefined) ?? limitRule(word);
}

/**
 * A pending job's reason as squeue (%r) or scontrol tells it, also several joined by commas, or with details as in
 * `ReqNodeNotAvail, UnavailableNodes:c4`. What is in no table is passed on as it is.
 */
export function tellReason(reason: string): ToldReason {
  const text = reason.trim();
  if (text === "" || text === "None" || text === "(null)" || text === "N/A")
    return { held: false, words: null };
  const rules = text.split(",").map(ruleOf);
  const known = rules.filter((rule) => rule !== null);
  const rule =
    known.find((one) => one.effect === "held") ?? known.find((one) => one.effect === "stuck") ?? known[0];
  if (rule === undefined) return { held: false, words: text };
  return { held: rule.effect === "held", words: `${rule.words} (${text})` };
}
