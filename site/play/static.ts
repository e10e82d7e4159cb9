import { svgOf } from './drawn.js';
import { EXAMPLES, exampleFor } from './examples.js';

/**
 * The strips of all examples, by their addresses (`fault=crc`); an empty text for an example that looks like a device
 * without any mistake: what it shows takes longer, or another request.
 */
export function strips(): Record<string, string> {
  const all: Record<string, string> = {};
  for (const kind of Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[])
    for (const name of EXAMPLES[kind]) {
      const example = exampleFor(kind, name);
      if (!example) continue;
      const { file } = example;
      const plain = { ...example, file: file.replace(/^ +like: .*\n/m, '').replace(/^faults:.*/ms, '') };
      const strip = svgOf(example);
      all[`${kind}=${name}`] = strip === svgOf(plain) ? '' : strip;
    }
  return all;
}
