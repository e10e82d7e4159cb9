import { LayoutBuilder, type RegisterLayout } from '../../registers/layout.js';
import { check, sectionOf } from '../../schema/parts.js';
import type { Issue, Path } from '../../schema/problem.js';
import type { DeviceRegisters, WindowDefinition } from '../configuration.js';
import { definePlaced, withoutOverlaps } from '../place-values.js';
import { readTypeSection } from './cells.js';
import { readList, readRange } from './ranges.js';
import { applyRepeats } from './repeat.js';
import { PYMODBUS_TYPES, pymodbusDeviceSections } from './schema.js';
import { type PymodbusSetup, readSetup } from './setup.js';

/** The registers of a device of a pymodbus file; undefined after telling its mistakes. */
export function pymodbusDevice(value: unknown, path: Path, issues: Issue[]): DeviceRegisters | undefined {
  const found = issues.length;
  if (!check(pymodbusDeviceSections, value, path, issues) && typeof value !== 'object') return undefined;
  if (value === null || Array.isArray(value)) return undefined;
  const setup = readSetup(sectionOf(value, 'setup'), [...path, 'setup'], issues);
  const cells = readCells(value, setup ?? UNKNOWN_SETUP, path, issues);
  if (!setup || issues.length > found) return undefined;
  return { tables: windows(setup, cells), cells };
}

const NO_DEFAULT = { value: 0, action: undefined };

/** Stands in for a section `setup` with mistakes, so that the others are checked as far as they can be. */
const UNKNOWN_SETUP: Pick<PymodbusSetup, 'size' | 'defaults'> = {
  size: 4 * 65536,
  defaults: {
    bits: NO_DEFAULT,
    uint16: NO_DEFAULT,
    uint32: NO_DEFAULT,
    float32: NO_DEFAULT,
    string: { value: '', action: undefined },
  },
};

function readCells(
  device: unknown,
  { size, defaults }: Pick<PymodbusSetup, 'size' | 'defaults'>,
  path: Path,
  issues: Issue[],
): RegisterLayout {
  // Cells are invalid until a section defines them, so here this section has nothing to do, as in pymodbus.
  readList(sectionOf(device, 'invalid'), [...path, 'invalid'], issues).forEach((each) => {
    readRange(each.item, size, each.path, issues);
  });
  const sections = PYMODBUS_TYPES.map((type) =>
    readTypeSection(type, sectionOf(device, type), defaults[type], size, [...path, type], issues),
  );
  const builder = new LayoutBuilder(size);
  const entries = sections.flatMap((section) => section.entries);
  for (const entry of withoutOverlaps(entries, issues)) definePlaced(builder, entry);
  const complete = sections.every((section) => section.complete);
  allowWrites(builder, sectionOf(device, 'write'), complete, [...path, 'write'], issues);
  applyRepeats(builder, sectionOf(device, 'repeat'), [...path, 'repeat'], issues);
  return builder.build();
}

/** With an incomplete list of defined cells, an undefined one may only follow from another mistake. */
function allowWrites(
  builder: LayoutBuilder,
  section: unknown,
  complete: boolean,
  path: Path,
  issues: Issue[],
): void {
  for (const { item, path: at } of readList(section, path, issues)) {
    const range = readRange(item, builder.size, at, issues);
    if (!range) continue;
    for (let address = range.first; address <= range.last; address++) {
      if (builder.isDefined(address)) builder.allowWrite(address);
      else if (complete) {
        issues.push({ path: at, message: `expected defined registers, address ${address} is not defined` });
        break;
      }
    }
  }
}

/** Shared blocks: every table is the whole list. Otherwise they follow one another, in pymodbus' order. */
function windows(setup: PymodbusSetup, layout: RegisterLayout): DeviceRegisters['tables'] {
  const window = (base: number, size: number): WindowDefinition => ({
    layout,
    base: setup.shared ? 0 : base,
    size: setup.shared ? setup.size : size,
    bitsPerCell: 16,
    wholeValues: setup.wholeValues,
  });
  const { coils, discrete, input, holding } = setup;
  return {
    coils: window(0, coils),
    discrete: window(coils, discrete),
    input: window(coils + discrete, input),
    holding: window(coils + discrete + input, holding),
  };
}
