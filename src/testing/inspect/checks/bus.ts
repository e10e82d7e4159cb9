import type { ServerCheck } from '../check.js';

export const BUS: readonly ServerCheck[] = [];
