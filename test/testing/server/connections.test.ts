import { afterEach, expect, it, vi } from 'vitest';
import { testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('shows the bytes of what was asked on another connection', async () => {
  const { serverTest } = await testModelServer({ order: { checks: ['half-frame-elsewhere'] } });
  const finding = serverTest.findings.find(({ check }) => check.id === 'half-frame-elsewhere');
  expect(finding?.verdict).toBe('conforms');
  expect(finding?.shown?.[0]).toMatchObject({ check: 'half-frame-elsewhere', isPlain: false });
  expect(finding?.shown?.[0]?.chunks.length).toBeGreaterThan(0);
});
