import { findSunspecModel, SUNSPEC_END } from '../../../files/config/sunspec/place.js';
import { hasValues } from '../asker.js';
import { type Bench, readPdu } from '../bench.js';
import { conforms, type Judged, type ServerCheck, unsupported, violates } from '../check.js';
import { answerText, listText } from '../words.js';

/** Where the marker `SunS` may be, and the marker. */
const BASES = [40_000, 0, 50_000];
const MARKER = [0x5375, 0x6e53];
const COMMON_MODEL = 1;
/** The common model has 66 registers, or 65 without its last one, which is a pad. */
const SHORT_COMMON = 65;
const MOST_MODELS = 100;

/** Follows the chain of models from the marker to its end. */
async function chain(bench: Bench): Promise<Judged> {
  for (const base of BASES) {
    const marker = await bench.words(3, base, 2);
    if (marker?.[0] === MARKER[0] && marker?.[1] === MARKER[1]) return follow(bench, base + 2);
  }
  return unsupported('there is no SunSpec marker at 40000, 0 or 50000');
}

async function follow(bench: Bench, first: number): Promise<Judged> {
  const models: number[] = [];
  const blame = (text: string) => violates(text, ...bench.log.slice(-1));
  for (let at = first; models.length < MOST_MODELS; ) {
    const [id, length] = (await bench.words(3, at, 2)) ?? [];
    if (id === undefined || length === undefined) {
      // The end has a length of 0; some servers end with FFFF alone.
      const [alone] = (await bench.words(3, at, 1)) ?? [];
      return alone === SUNSPEC_END[0]
        ? blame(`the end of the chain at ${at} has no length`)
        : blame(`behind the models ${listText(models.map(String)) || 'none'}, address ${at} is not there`);
    }
    if (id === SUNSPEC_END[0])
      return length === SUNSPEC_END[1]
        ? conforms(`the models ${listText(models.map(String))} from ${first} on, and the end`)
        : blame(`the end of the chain at ${at} has the length ${length}, not 0`);
    if (models.length === 0 && id !== COMMON_MODEL) return blame(`the first model is ${id}, not 1`);
    const wrong = wrongLength(id, length);
    if (wrong !== undefined) return blame(`model ${id} at ${at} ${wrong}`);
    const last = await bench.ask(readPdu(3, at + 1 + length, 1));
    if (!hasValues(last))
      return violates(
        `model ${id} at ${at} says that it has ${length} registers; at the last, the server ${answerText(last.answer)}`,
        last,
      );
    models.push(id);
    at += 2 + length;
  }
  return blame(`the chain does not end within ${MOST_MODELS} models`);
}

/** What is wrong with the length of a model; undefined for models of vendors, and where a group may be repeated. */
function wrongLength(id: number, length: number): string | undefined {
  const model = findSunspecModel(id);
  if (!model.ok) return length > 0 ? undefined : 'has no registers';
  const { points = [], groups = [] } = model.value.group;
  const fixed = points.reduce((sum, { size }) => sum + size, 0) - 2;
  const isRight =
    groups.length > 0
      ? length >= fixed
      : length === fixed || (id === COMMON_MODEL && length === SHORT_COMMON);
  return isRight ? undefined : `has the length ${length}, and the model ${fixed}`;
}

export const SUNSPEC: readonly ServerCheck[] = [
  {
    id: 'sunspec-map',
    provokes: ['address'],
    group: 'has',
    title: 'Its SunSpec models are a chain',
    does: 'Looks for the marker SunS at 40000, 0 and 50000, and follows the models to the end.',
    rule: 'Conforms when model 1 is the first, each model is as long as it has to be, its last register is there, and FFFF 0000 ends the chain. No marker: not supported.',
    clause: 'SunSpec Device Information Model Specification V1.2, 6; conformance DEV-1, DEV-2, MOD-1, MOD-2',
    matters: 'Clients find no model, or read the wrong one: hoylabs/OpenDTU-OnBattery#2635.',
    mend: 'Let each length count the registers behind it, and end the list with FFFF 0000.',
    grade: 'met',
    run: chain,
  },
];
