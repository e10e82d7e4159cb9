import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import type { Issue, Problem } from '../../common/schema/problem.js';
import { inSlices } from '../../common/work.js';
import type { ApiOverrides } from '../../document/api-definition.js';
import { onFreePorts } from '../../document/free-ports.js';
import {
  type ConfigurationSource,
  type LoadResult,
  loadConfiguration,
  readingNative,
} from '../../document/load.js';
import { Assembly, type Piece } from '../../document/text/pieces.js';
import { LARGEST_BYTES, readText } from '../../document/text/read-file.js';
import { startWork } from './work.js';

/** A request to the parser: the next answer, or the places of mistakes. */
export type ToParser =
  | { readonly kind: 'next' }
  | { readonly kind: 'locate'; readonly lists: readonly (readonly Issue[])[] };

/** An answer from the parser. */
export type Parsed =
  | { readonly kind: 'same' }
  | { readonly kind: 'failed'; readonly problems: readonly Problem[] }
  | { readonly kind: 'pieces'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'end'; readonly digest: string }
  | { readonly kind: 'located'; readonly lists: readonly (readonly Problem[])[] };

/**
 * The configuration of a running service. It can be read again while lines are running: another thread parses
 * the file and passes its content on in slices. An unchanged text is not parsed again.
 */
export class ConfigurationFile {
  readonly #source: ConfigurationSource;
  readonly #api: ApiOverrides;
  /** The digest of the text that was read last, and its result. */
  #known: { readonly digest: string; readonly result?: LoadResult } | undefined;

  constructor(source: ConfigurationSource, api: ApiOverrides) {
    this.#source = source;
    this.#api = api;
    if (source.kind !== 'native') return;
    // The digest is computed before the file is loaded, so that the first reload finds any change made in
    // between.
    const text = readText(source.file, LARGEST_BYTES);
    if (text.ok) this.#known = { digest: createHash('sha256').update(text.value).digest('hex') };
  }

  /** Keeps the result that the program started with. */
  note(result: LoadResult): void {
    if (this.#known) this.#known = { ...this.#known, result };
  }

  /** Reads the configuration again. The demo and pymodbus.simulator files are read in this thread. */
  async read(): Promise<LoadResult> {
    const source = this.#source;
    if (source.kind !== 'native') return loadConfiguration(source, this.#api);
    const { digest, result } = this.#known ?? {};
    const known = result && isAlone(result) ? digest : undefined;
    const { ask, end } = startWork<ToParser, Parsed>({
      kind: 'parse',
      file: source.file,
      most: LARGEST_BYTES,
      digest: known,
    });
    try {
      const read = await this.#readFrom(ask, source.file);
      if (read === 'same') return result as LoadResult;
      const now = source.freePorts ? onFree(read.result) : read.result;
      this.#known = { digest: read.digest, result: now };
      return now;
    } finally {
      await end();
    }
  }

  async #readFrom(
    ask: (asked: ToParser) => Promise<Parsed>,
    file: string,
  ): Promise<'same' | { readonly digest: string; readonly result: LoadResult }> {
    const whole = new Assembly();
    let digest = '';
    for (;;) {
      const outcome = await ask({ kind: 'next' });
      if (outcome.kind === 'same') return 'same';
      if (outcome.kind === 'failed')
        return { digest, result: { ok: false, problems: outcome.problems, warnings: [] } };
      if (outcome.kind === 'end') digest = outcome.digest;
      if (outcome.kind !== 'pieces') break;
      for (const piece of outcome.pieces) whole.add(piece);
    }
    const findings = fileFindings();
    const api = this.#source.freePorts ? { httpPort: 0, ...this.#api } : this.#api;
    const at = new At(whole.value, findings);
    const configuration = await inSlices(readingNative(dirname(resolve(file)), at, api));
    const { listed, warnings } = findings;
    const located =
      listed.length + warnings.length === 0
        ? undefined
        : await ask({ kind: 'locate', lists: [listed, warnings] });
    const [problems = [], warned = []] = located?.kind === 'located' ? located.lists : [];
    return {
      digest,
      result:
        listed.length === 0
          ? { ok: true, configuration, warnings: warned }
          : { ok: false, problems, warnings: warned },
    };
  }
}

function onFree(result: LoadResult): LoadResult {
  return !result.ok ? result : { ...result, configuration: onFreePorts(result.configuration) };
}

/**
 * Whether the configuration depends only on its own text. Otherwise it names a pymodbus.simulator file, which
 * may have changed.
 */
function isAlone(result: LoadResult): boolean {
  return result.ok && result.configuration.devices.every(({ source }) => source?.pymodbus === undefined);
}
