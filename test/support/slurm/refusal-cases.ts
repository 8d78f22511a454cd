import type { ToolDefinition } from "../../../src/domain/tool.ts";

/** What a request of a Slurm job asks for that it cannot have. */
export type Case = {
  readonly asks: string;
  readonly options?: ToolDefinition["options"];
  readonly resources?: Partial<ToolDefinition["resources"]>;
  /** What the task says. */
  readonly told: string;
};

export const REFUSED: readonly Case[] = [
  {
    asks: "a partition that is not there",
    options: { partition: "nowhere" },
    told: "the cluster has no such partition. Slurm says: invalid partition specified: nowhere",
  },
  {
    asks: "a drained partition",
    options: { partition: "drained" },
    told: "the partition takes no jobs now. Slurm says: Batch job submission failed: Required partition not avail",
  },
  {
    asks: "a constraint that no node meets",
    options: { constraint: "cray" },
    told: "no node has the feature that its constraint names. Slurm says: Batch job submission failed: Invalid fea",
  },
  {
    asks: "a reservation that is not there",
    options: { reservation: "holiday" },
    told: "there is no such reservation, or it is not yours. Slurm says: Batch job submission failed: Requested res",
  },
  {
    asks: "more licences than there are",
    options: { licenses: "lic:3" },
    told: "the cluster has no such licences, or not as many. Slurm says: Batch job submission failed: Invalid lic",
  },
  {
    asks: "more memory than any node has",
    resources: { memoryMib: 10_000_000 },
    told: "Slurm says: Memory specification can not be satisfied",
  },
  {
    asks: "GPUs where there are none",
    resources: { gpus: 2 },
    told: "the cluster has no such GPUs or other devices. Slurm says: Invalid generic resource (gres) specification",
  },
  {
    asks: "a node that is not there",
    options: { extra: ["--nodelist=c99"] },
    told: "the cluster has no node of that name. Slurm says: Batch job submission failed: Invalid node name",
  },
  {
    asks: "a time that is none",
    options: { extra: ["--time=soon"] },
    told: "one of the options has a value that sbatch does not take. Slurm says: Invalid --time specification",
  },
  {
    asks: "a deadline in the past",
    options: { extra: ["--deadline=2020-01-01"] },
    told: "its walltime is over the partition's limit, or its deadline cannot be met. Slurm says: Batch job sub",
  },
  {
    asks: "an option that sbatch does not know",
    options: { extra: ["--nosuchoption=1"] },
    told: "this cluster's sbatch does not know one of the options. Slurm says: unrecognized option '--nosuchopti",
  },
];

export const REFUSED_BY_ACCOUNTS: readonly Case[] = [
  {
    asks: "an account that is not there",
    options: { account: "nobody" },
    told: "the account is unknown, not yours, or not for this partition. Slurm says: ",
  },
  {
    asks: "a QOS that is not there",
    options: { qos: "nosuch" },
    told: "the QOS is unknown, or your account may not use it. Slurm says: Batch job submission failed: Invalid qos",
  },
  {
    asks: "more CPUs than its QOS gives one job",
    options: { account: "proj", qos: "deny" },
    resources: { cpus: 2 },
    told: "a limit of your account or QOS forbids a job of this size. Slurm says: ",
  },
];

export const NEVER_RUNS: readonly Case[] = [
  {
    asks: "ten minutes where one is the limit",
    options: { partition: "short" },
    resources: { walltimeSeconds: 600 },
    told: "queued … it will not start as it is: its walltime is over its partition's limit; shorten it",
  },
  {
    asks: "a thousand tasks",
    options: { tasks: 1000 },
    told: "queued … it will not start as it is: no nodes of its partition fit the request; ask for less",
  },
  {
    asks: "64 CPUs of nodes with four",
    resources: { cpus: 64 },
    told: "queued … it will not start as it is: no nodes of its partition fit the request; ask for less",
  },
  {
    asks: "a partition that is down",
    options: { partition: "closed" },
    told: "queued … it will not start as it is: its partition is down; wait for the administrators",
  },
  {
    asks: "to be held",
    options: { extra: ["--hold"] },
    told: "held … held by its owner; release it with scontrol release (JobHeldUser)",
  },
];
