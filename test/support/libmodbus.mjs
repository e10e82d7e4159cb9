import { spawnSync } from 'node:child_process';

/**
 * Compiler and linker options for libmodbus, or what is missing and how to get it.
 * @typedef {{ok: true, flags: readonly string[]} | {ok: false, missing: string}} Libmodbus
 */

/**
 * Looks for a C compiler and libmodbus' headers, with pkg-config and where Debian puts them.
 * @returns {Libmodbus}
 */
export function findLibmodbus() {
  if (spawnSync('cc', ['--version'], { stdio: 'ignore' }).error) {
    return { ok: false, missing: 'there is no C compiler cc (apt-get install gcc libc6-dev)' };
  }
  const configured = spawnSync('pkg-config', ['--cflags', '--libs', 'libmodbus'], { encoding: 'utf8' });
  const flags =
    configured.status === 0 ? configured.stdout.trim().split(/\s+/) : ['-I/usr/include/modbus', '-lmodbus'];
  const { include } = sorted(flags);
  const tried = spawnSync('cc', [...include, '-E', '-x', 'c', '-'], { input: '#include <modbus.h>\n' });
  return tried.status === 0
    ? { ok: true, flags }
    : { ok: false, missing: 'libmodbus is not installed (apt-get install libmodbus-dev)' };
}

/**
 * Compiles one C file to the program `output`. Throws with the compiler's messages.
 * @param {string} source
 * @param {string} output
 * @param {readonly string[]} flags
 */
export function compileWithLibmodbus(source, output, flags) {
  const { include, libraries } = sorted(flags);
  const args = [
    '-std=gnu11',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-O2',
    ...include,
    '-o',
    output,
    source,
    ...libraries,
  ];
  const compiled = spawnSync('cc', args, { encoding: 'utf8' });
  if (compiled.status !== 0) throw new Error(`cc ${args.join(' ')}\n${compiled.stderr}`);
}

/**
 * The linker needs libraries after the objects that use them.
 * @param {readonly string[]} flags
 */
function sorted(flags) {
  const libraries = flags.filter((flag) => /^-[lL]/.test(flag));
  return { include: flags.filter((flag) => !libraries.includes(flag)), libraries };
}
