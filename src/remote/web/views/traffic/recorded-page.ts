import { type Facts, GOOD, matches } from '../../../../simulator/filter/filter.js';
import { mistakeText, parseFilter } from '../../../../simulator/filter/parse.js';
import type { TrafficView } from '../../../../simulator/traffic/view-schema.js';

/**
 * A page of recorded events, like the answer of `GET /api/v1/traffic` to a query, or what is wrong with its
 * filter.
 * @param events oldest first @param text the filter @param query `after` and `limit`
 */
export function pageOf(events: readonly TrafficView[], text: string, query: URLSearchParams) {
  // Without a current time, so a time can't be given as an age.
  const parsed = parseFilter(text);
  if (!parsed.ok) return { path: 'filter', message: mistakeText(parsed.error) };
  const { filter } = parsed.value;
  const after = query.get('after');
  const limit = Number(query.get('limit') ?? 100);
  const passed = events.filter(
    (event) => (after === null || event.seq > Number(after)) && matches(filter, factsOf(event)),
  );
  const shown = after === null ? passed.slice(-limit) : passed.slice(0, limit);
  const [first, last] = [events[0]?.seq ?? 1, events.at(-1)?.seq ?? 0];
  return { events: shown, next: shown.at(-1)?.seq ?? last, first, last, missed: 0 };
}

/** The facts that filters test, as far as REST shows them. Devices are not shown, and values only as text. */
function factsOf(event: TrafficView): Facts {
  const { line, kind, direction, unit, function: functionCode, address, quantity = 1, text } = event;
  const { faults = [], silence, ended, names = [], written, bytes = '' } = event;
  const isSilent = kind === 'reply' && (silence != null || ended !== 'complete');
  return {
    line,
    kind,
    direction,
    timeUs: Date.parse(event.time) * 1000 + (Number(event.time.slice(23, 26)) || 0),
    unit,
    functionCode,
    more: {
      client: event.client,
      host: event.host,
      rules: faults.map(({ rule }) => rule),
      ranges: () => [
        ...(address === undefined ? [] : [{ address, quantity }]),
        ...(written ? [{ address: written.address, quantity: written.values?.length ?? 1 }] : []),
      ],
      device: () => undefined,
      exception: () => (isSilent || faults.length > 0 ? event.exception : (event.exception ?? GOOD)),
      problem: () => {
        if (faults.length > 0) return 'ordered';
        return isSilent || event.exception !== undefined ? 'unordered' : undefined;
      },
      lateUs: () => event.responseTimeUs ?? undefined,
      isAbout: (name) => names.some((each) => each === name || each.endsWith(`.${name}`)),
      numbers: (name) => {
        const shown = ` ${text.slice(text.indexOf(':') + 1)}`.split(` ${name.split('.').at(-1)} `)[1];
        const number = Number.parseFloat(shown ?? '');
        return Number.isNaN(number) ? [] : [number];
      },
      written: () => written,
      bytes: () => bytes.replaceAll(' ', ''),
      text: () => text,
    },
  };
}
