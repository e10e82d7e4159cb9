import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { fileBesideCode } from '../../common/package.js';
import { keepYoungGenerations, optimizeLate } from '../../common/platform.js';

/*
 * Loads the parts of the bundled program. Each part is a function of CommonJS (`scripts/bundle.mjs`), so that V8 can be
 * handed the code that it compiled of it before: Node 20 keeps none by itself (docs/decisions/0034-bundled.md).
 */

/** The exports of a part. */
type PartExports = Readonly<Record<string, unknown>>;

type PartFunction = (
  exports: object,
  require: (specifier: string) => unknown,
  module: { exports: PartExports },
  url: string,
  loadLater: (name: string) => Promise<PartExports>,
) => void;

/** How the names of parts begin. */
const PART = 'part-';

const DIGEST = 'sha1';
const DIGEST_BYTES = 20;
/** Where the code begins in its file. V8 copies what is not aligned. */
const CODE_START = 24;

/** The parts of a program, each of which is loaded once. */
export class PartLoader {
  readonly #folder: URL;
  readonly #code: URL | undefined;
  readonly #node: string;
  readonly #require: NodeJS.Require;
  readonly #sources = new Map<string, Buffer>();
  /** Those whose code will be kept. */
  readonly #scripts: Map<string, Script> | undefined;
  readonly #loaded = new Map<string, { exports: PartExports }>();

  /**
   * @param folder of the parts, with a slash at the end
   * @param code the folder with their compiled code; undefined for none. Without it no flag of V8 is set
   * @param keeps whether `keep` will be called
   */
  constructor(folder: URL, code?: URL, keeps = false) {
    const node = code && thisNode();
    this.#folder = folder;
    this.#scripts = keeps ? new Map() : undefined;
    this.#code = node === undefined ? undefined : code;
    this.#node = node ?? '';
    this.#require = createRequire(folder);
  }

  /** Loads a part and those that it needs. Throws what the part throws. */
  readonly load = (name: string): PartExports => {
    const known = this.#loaded.get(name);
    if (known) return known.exports;
    const part = { exports: {} };
    this.#loaded.set(name, part);
    try {
      const script = this.#compile(name);
      const run: PartFunction = script.runInThisContext();
      const url = new URL(`${name}.js`, this.#folder).href;
      run(part.exports, this.#requireOf, part, url, this.#loadLater);
      this.#scripts?.set(name, script);
    } catch (error) {
      this.#loaded.delete(name);
      throw error;
    }
    return part.exports;
  };

  /** Writes the code of all parts, of what has run so far, for the next start. Throws what the file system throws. */
  keep(): void {
    if (!this.#code || !this.#scripts) return;
    // V8 takes code only if it was compiled with the flags of the moment.
    optimizeLate(true);
    keepYoungGenerations();
    mkdirSync(this.#code, { recursive: true });
    for (const [name, script] of this.#scripts) {
      const code = script.createCachedData();
      const file = Buffer.alloc(CODE_START + code.length);
      file.set(this.#digest(this.#source(name), code));
      file.set(code, CODE_START);
      writeFileSync(new URL(name, this.#code), file);
    }
  }

  readonly #requireOf = (specifier: string): unknown =>
    specifier.startsWith('./') ? this.load(specifier.slice(2)) : this.#require(specifier);

  /**
   * Loads a part and those that it needs, each in a turn of its own of the event loop, because what runs beside must not
   * wait for all of them. Whatever is no part is a package: code that was kept can't import it.
   */
  readonly #loadLater = async (name: string): Promise<PartExports> => {
    if (!name.startsWith(PART)) return import(name);
    await this.#loadNeeded(name, new Set());
    return this.load(name);
  };

  async #loadNeeded(name: string, seen: Set<string>): Promise<void> {
    if (seen.has(name) || this.#loaded.has(name)) return;
    seen.add(name);
    const source = this.#source(name);
    // Their names are in the first line, behind two slashes.
    const needed = source.toString('latin1', 2, source.indexOf('\n')).split(' ');
    for (const each of needed) if (each !== '') await this.#loadNeeded(each, seen);
    await new Promise((resolve) => setImmediate(resolve));
    this.load(name);
  }

  #source(name: string): Buffer {
    const source = this.#sources.get(name) ?? readFileSync(new URL(`${name}.js`, this.#folder));
    this.#sources.set(name, source);
    return source;
  }

  #compile(name: string): Script {
    const source = this.#source(name);
    this.#sources.delete(name);
    const cachedData = this.#codeOf(name, source);
    // V8 lets them grow when a thread begins, and takes code only with the flags with which it was kept.
    if (this.#code) keepYoungGenerations();
    return new Script(source.toString('latin1'), {
      filename: fileURLToPath(new URL(`${name}.js`, this.#folder)),
      ...(cachedData && { cachedData }),
    });
  }

  /** The code of a part, if it was kept of this source by this Node, and is whole: V8 looks at its beginning only. */
  #codeOf(name: string, source: Buffer): Buffer | undefined {
    if (!this.#code) return undefined;
    try {
      const file = readFileSync(new URL(name, this.#code));
      const code = file.subarray(CODE_START);
      return this.#digest(source, code).equals(file.subarray(0, DIGEST_BYTES)) ? code : undefined;
    } catch {
      return undefined;
    }
  }

  #digest(source: Buffer, code: Buffer): Buffer {
    return createHash(DIGEST).update(this.#node).update(source).update(code).digest();
  }
}

/** What differs between two builds of Node, which may have one version; undefined if its file is gone. */
function thisNode(): string | undefined {
  const file = statSync(process.execPath, { throwIfNoEntry: false });
  return file && [process.version, process.arch, file.size, file.mtimeMs].join(' ');
}

/** Asks a program to keep its code when it ends (`keep-code.ts`). */
export const KEEP_CODE = 'MODBUS_SIM_KEEP_CODE';

/**
 * Loads an entry of the program.
 * @param name of its part
 * @param isKept whether its code and that of the parts that it loads are kept
 */
export function loadEntry(name: string, isKept = false): PartExports {
  const folder = fileBesideCode('./');
  const keeps = isKept && process.env[KEEP_CODE] !== undefined;
  const loader = new PartLoader(folder, isKept ? new URL(`code/${name}/`, folder) : undefined, keeps);
  if (keeps) process.once('exit', () => loader.keep());
  return loader.load(name);
}
