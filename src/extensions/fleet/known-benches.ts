import { z } from 'zod';
import { isMapping } from '../../common/schema/parts.js';

/** The state published by a bench. Anybody can publish one, so invalid parts are dropped. */
export const stateSchema = z.object({
  state: z.string().catch('unknown'),
  labels: z.record(z.string(), z.string()).catch({}),
  version: z.string().optional().catch(undefined),
  since: z.string().optional().catch(undefined),
  lines: z.array(z.object({ name: z.string(), state: z.string() })).catch([]),
  rules: z.array(z.string()).catch([]),
  tests: z.array(z.string()).catch([]),
  rest: z.array(z.url()).catch([]),
});

/** A bench and its topic prefix. */
export interface FleetBench extends z.infer<typeof stateSchema> {
  readonly topic: string;
}

interface Most {
  readonly benches: number;
  readonly bytes: number;
}

/** Benches by topic. Their number is limited, because any client of the broker can announce more. */
export class KnownBenches {
  readonly #most: Most;
  readonly #benches = new Map<string, { readonly bench: FleetBench; readonly bytes: number }>();
  #bytes = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /**
   * Stores the state of a bench, or forgets the bench if there is no room.
   * @param bytes size of the state message
   */
  set(bench: FleetBench, bytes: number): void {
    this.delete(bench.topic);
    if (this.#benches.size >= this.#most.benches || this.#bytes + bytes > this.#most.bytes) return;
    this.#benches.set(bench.topic, { bench, bytes });
    this.#bytes += bytes;
  }

  get(topic: string): FleetBench | undefined {
    return this.#benches.get(topic)?.bench;
  }

  delete(topic: string): void {
    this.#bytes -= this.#benches.get(topic)?.bytes ?? 0;
    this.#benches.delete(topic);
  }

  clear(): void {
    this.#benches.clear();
    this.#bytes = 0;
  }

  list(): FleetBench[] {
    return Array.from(this.#benches.values(), ({ bench }) => bench);
  }
}

/** Parses a payload as a JSON object; undefined for anything else, including an array. */
export function jsonIn(payload: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'));
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
