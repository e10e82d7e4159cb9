import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { valueNames } from '../../simulator/value-names.js';
import { EVENT_KINDS, type TrafficEvent } from '../../traffic/event.js';
import { DIRECTIONS, trafficView } from '../../traffic/view.js';
import { replySchema } from './exchange-view.js';

const { omittedBytes, ...replyFields } = replySchema;

/** An event of the traffic. Keys that an event of its kind does not have are absent. */
export const trafficViewSchema = z.object({
  seq: z.number(),
  line: z.string(),
  kind: z.enum(EVENT_KINDS),
  direction: z.enum(DIRECTIONS),
  time: z.string(),
  monotonicUs: z.number(),
  pauseUs: z.number().nullable().optional(),
  pauseCharacters: z.number().nullable().optional(),
  bytes: z.string().optional(),
  omittedBytes: omittedBytes.optional(),
  unit: z.number().optional(),
  function: z.number().optional(),
  name: z.string().optional(),
  address: z.number().optional(),
  quantity: z.number().optional(),
  values: z.array(z.number()).optional(),
  /** The names of the registers: `meter.voltage`. */
  names: z.array(z.string()).optional(),
  exception: z.number().optional(),
  text: z.string(),
  written: z
    .object({
      table: z.enum(['coils', 'holding']),
      address: z.number(),
      values: z.array(z.number()).optional(),
    })
    .optional(),
  client: z.string().optional(),
  request: z.number().optional(),
  responseTimeUs: z.number().nullable().optional(),
  ...z.object(replyFields).partial().shape,
});

/** In place of events that were gone before they could be told. */
const leftOutSchema = z.object({ kind: z.literal('left out'), count: z.number(), text: z.string() });

export type LeftOut = z.infer<typeof leftOutSchema>;

export type NamedView = ReturnType<ReturnType<typeof namedViews>>;

/** Shows events with the names of the registers that they are about. */
export function namedViews(simulator: Simulator) {
  const { traffic } = simulator;
  const read = (seq: number) => traffic.read(seq);
  return (event: TrafficEvent) => {
    const view = trafficView(event, read);
    const { line, unit, function: functionCode, address, quantity } = view;
    if (unit === undefined || functionCode === undefined || address === undefined || quantity === undefined)
      return view;
    const names = valueNames(simulator, { line, unitId: unit, functionCode, address, quantity });
    return names.length > 0 ? { ...view, names } : view;
  };
}

/** Tells that events are missing: `1,240 left out`. */
export function leftOut(count: number): LeftOut {
  return { kind: 'left out', count, text: `${count.toLocaleString('en')} left out` };
}
