// Loads what every such server loads, and does nothing with it: the yardstick of idle memory.
import { serve } from "@hono/node-server";
import { Queue } from "bullmq";
import { Hono } from "hono";
import { Redis } from "ioredis";

const loaded = [serve, Queue, Hono, Redis];
process.stdout.write(`${loaded.length} loaded\n`);
setInterval(() => undefined, 60_000);
