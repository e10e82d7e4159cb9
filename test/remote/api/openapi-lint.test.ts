import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { document } from '../../support/documented.js';

it('openapi.json has no finding of Redocly by its strict rules', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});
