import { release, type as systemName } from 'node:os';
import { version } from '../../common/package.js';
import type { Report } from './report.js';

/** The versions of this program, of Node and of the system. */
export function versions(): Report['versions'] {
  return [
    { name: 'modbus-sim', version: version() },
    { name: 'Node.js', version: process.versions.node },
    { name: systemName(), version: release() },
  ];
}
