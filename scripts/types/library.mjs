import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { typesOfModule } from './of-module.mjs';
import { typesOfSchema } from './of-schema.mjs';

/** The type that src/library.ts names and the schema in the built program describes. */
const CONFIGURATION = 'Configuration';

/** Declares the exports of the library, without the content of a configuration. */
export function librarySignatures() {
  return typesOfModule(resolve('src/library.ts'), resolve('tsconfig.build.json'), [CONFIGURATION]);
}

/** Declares what a configuration can contain. The build has already written the schema. */
export function configurationTypes() {
  return typesOfSchema(CONFIGURATION, JSON.parse(readFileSync('schema/configuration.json', 'utf8')));
}
