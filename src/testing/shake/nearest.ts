import { type Misbehaviour, readCatalogue } from '../../files/config/catalogue.js';
import type { Schedule, WrittenActions } from './move.js';

/** The entries with what they do. They are part of the program, and a report is made each time that somebody looks. */
let known: readonly { readonly entry: Misbehaviour; readonly kinds: ReadonlySet<string> }[] | undefined;

/**
 * The entry of the catalogue that does the most of what the moves do, by kinds of faults and manners; undefined when none
 * does any of it.
 */
export function nearestEntry(schedule: Schedule): Misbehaviour | undefined {
  const done = new Set(schedule.flatMap(({ does }) => kindsOf(does)));
  known ??= readCatalogue().map((entry) => ({ entry, kinds: new Set(kindsOf(actionsOf(entry))) }));
  const scored = known.map(({ entry, kinds }) => {
    const shared = [...kinds].filter((kind) => done.has(kind)).length;
    return { entry, score: shared / (kinds.size + done.size - shared || 1) };
  });
  const best = scored.reduce((first, each) => (each.score > first.score ? each : first));
  return best.score > 0 ? best.entry : undefined;
}

function actionsOf({ faults, manners }: Misbehaviour): WrittenActions {
  return { fault: faults, ...(manners && { manners: { all: manners } }) };
}

/** The kinds of faults and the manners of actions. */
function kindsOf({ fault, manners, power, closed }: WrittenActions): string[] {
  const rules = [fault ?? []].flat() as { readonly do?: object | readonly object[] }[];
  const faults = rules.flatMap((rule) => [rule.do ?? []].flat().flatMap((each) => Object.keys(each)));
  const habits = Object.values((manners ?? {}) as Record<string, object>).flatMap((each) =>
    Object.keys(each),
  );
  // A device without its supply is silent, and a line that is closed closes its connections.
  return [...faults, ...habits, ...(power ? ['silence'] : []), ...(closed ? ['close'] : [])];
}
