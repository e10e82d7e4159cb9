import { readFileSync } from 'node:fs';
import { release, type as systemName } from 'node:os';
import type { Report } from './report.js';

/** The versions of this program, of Node and of the system. */
export function versions(): Report['versions'] {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  );
  return [
    { name: 'modbus-sim', version: (manifest as { version: string }).version },
    { name: 'Node.js', version: process.versions.node },
    { name: systemName(), version: release() },
  ];
}
