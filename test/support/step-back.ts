import { getPriority, setPriority } from 'node:os';

/* This process computes, and leaves the processor to tests that run in real time. */
const NICENESS = 5;

if (getPriority() < NICENESS) setPriority(NICENESS);
