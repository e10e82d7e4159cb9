import { ExceptionCode } from '../../modbus/protocol/exception-code.js';
import type { Taken } from './asker.js';
import type { ClonedDevice } from './cloned-device.js';
import type { TableSurvey } from './table-survey.js';

/** The most ranges that a remark lists. Further ones are only counted. */
const MOST_LISTED = 20;

/** What a person has to know of a device that was read and its file can't say, a sentence each. */
export function remarksOf({ survey, unfinished, replyTime }: ClonedDevice): string[] {
  const { tables, probed, exceptionStatus, moved } = survey;
  return [
    ...(unfinished === undefined ? [] : [`not read to its end: ${unfinished}`]),
    ...(replyTime ? [`median reply time ${replyTime.median} ms, without the time on the wire`] : []),
    ...tables.flatMap(tableRemarks),
    ...(exceptionStatus
      ? [`function 7 answered ${exceptionStatus}; exceptionStatus names the coils of it`]
      : []),
    ...[...probed].map(([code, taken]) => `function ${code}, sent without data: ${takenText(taken)}`),
    ...[...moved].flatMap(([{ table }, values]) =>
      values.size > 0
        ? [`${table}: changed while watched: ${listed([...values.keys()].map((each) => [each, each]))}`]
        : [],
    ),
  ];
}

function tableRemarks({ table, values, sampled, refusals }: TableSurvey): string[] {
  const others = [...refusals.keys()].filter(
    (refusal) => refusal !== 'silence' && refusal !== ExceptionCode.illegalDataAddress,
  );
  if (values.size === 0) return [];
  return [
    `${table}: ${values.size} found`,
    ...(sampled.length > 0
      ? [
          `${table}: ${listed(sampled)} refused; 8 addresses of each block were tried alone, so a lone one may be missed`,
        ]
      : []),
    ...others.map((code) => `${table}: what is not there was refused with exception ${code}, here with 2`),
  ];
}

function listed(ranges: readonly (readonly [number, number])[]): string {
  if (ranges.length === 0) return 'none';
  const merged: [number, number][] = [];
  for (const [first, last] of ranges) {
    const before = merged.at(-1);
    if (before && before[1] + 1 === first) before[1] = last;
    else merged.push([first, last]);
  }
  const texts = merged.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
  const more = texts.length > MOST_LISTED ? ` and ${texts.length - MOST_LISTED} more` : '';
  return texts.slice(0, MOST_LISTED).join(', ') + more;
}

function takenText(taken: Taken): string {
  return taken.kind === 'data'
    ? `answered with ${taken.pdu.length} bytes`
    : taken.kind === 'silence'
      ? 'no answer'
      : `exception ${taken.code}`;
}
