import type { ScenarioSummary, ServerSummary } from '../../api/v1/reports.js';
import type { Tone } from './controls.js';

export type Verdict = ScenarioSummary['verdict'] | ServerSummary['verdict'];

export const TONES: Readonly<Record<Verdict, Tone>> = {
  pass: 'good',
  fail: 'bad',
  error: 'bad',
  inconclusive: 'warn',
  'not run': 'off',
  conforms: 'good',
  violates: 'bad',
  unsupported: 'off',
  fact: 'off',
  'not-run': 'off',
};
