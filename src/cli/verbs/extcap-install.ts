import { spawnSync } from 'node:child_process';
import { chmodSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../files/config/make-directory.js';
import { complain, say } from './say.js';

/** Installs a program in Wireshark's extcap directory that calls this one. */
export function installExtcap(directory = extcapDirectory()): number {
  const file = join(directory, 'modbus-sim');
  try {
    makeDirectory(directory);
    writeFileSync(file, wrapper(process.execPath, realpathSync(process.argv[1] as string)));
    chmodSync(file, 0o755);
  } catch (error) {
    return complain(
      `can't write ${file}: ${(error as Error).message}. Name a directory, and start Wireshark with ` +
        'WIRESHARK_EXTCAP_DIR set to it; or install as root',
    );
  }
  return say(`installed ${file}; Wireshark lists the lines of a running simulator at its next start`);
}

function wrapper(node: string, program: string): string {
  return `#!/bin/sh\nexec ${shellWord(node)} ${shellWord(program)} extcap "$@"\n`;
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The extcap directory of the user, as Wireshark prints it; the global one if there is none. */
function extcapDirectory(): string {
  const { stdout } = spawnSync('tshark', ['-G', 'folders'], { encoding: 'utf8' });
  return extcapFolder(stdout ?? '') ?? join(homedir(), '.local/lib/wireshark/extcap');
}

/**
 * Finds the extcap directory in the output of `tshark -G folders`. Before version 4.2, Wireshark had none for
 * a single user.
 */
function extcapFolder(folders: string): string | undefined {
  const own = /^Personal Extcap path:\s*(\S.*)$/m.exec(folders);
  return (own ?? /^(?:Global )?Extcap path:\s*(\S.*)$/m.exec(folders))?.[1];
}
