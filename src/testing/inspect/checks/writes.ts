import type { ServerCheck } from '../check.js';

export const WRITES: readonly ServerCheck[] = [];
