import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installed, packed, type Shipped } from './packages.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The npm package as installed and as packed, and the files that npm has put into it. */
    readonly npm: { readonly shipped: Shipped; readonly tarball: string; readonly files: readonly string[] };
  }
}

let directory: string;

/** Packs and installs the npm package, which several files use. */
export function setup({ provide }: TestProject): void {
  directory = mkdtempSync(join(tmpdir(), 'modbus-sim-npm-'));
  const { tarball, files } = packed(directory);
  provide('npm', { shipped: installed(tarball, join(directory, 'project')), tarball, files });
}

export function teardown(): void {
  rmSync(directory, { recursive: true, force: true });
}
