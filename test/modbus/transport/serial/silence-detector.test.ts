import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SilenceDetector } from '../../../../src/modbus/transport/serial/serial-session.js';
import { VirtualClock } from '../../../support/virtual-clock.js';

const GAP = 10;

describe('a silence', () => {
  let clock: VirtualClock;
  let silences: number[];
  const listen = (gap = GAP) => new SilenceDetector(gap, clock, () => silences.push(clock.now()));
  const hear = (detector: SilenceDetector, length: number) =>
    detector.heard(new Uint8Array(length), clock.now());

  beforeEach(() => {
    clock = new VirtualClock();
    clock.replaceGlobalTimers();
    silences = [];
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is told once when nothing comes, and once after each burst', () => {
    const detector = listen();
    clock.advance(100);
    expect(silences).toEqual([GAP]);
    hear(detector, 3);
    clock.advance(4);
    hear(detector, 3);
    clock.advance(100);
    expect(silences).toEqual([GAP, 104 + GAP]);
  });

  it.each([1024, 1025, 5000])('is told after a burst of %i bytes, and not within it', (length) => {
    const detector = listen();
    clock.advance(100);
    hear(detector, length);
    clock.advance(GAP - 1);
    hear(detector, 1024);
    expect(silences).toEqual([GAP]);
    clock.advance(100);
    expect(silences).toEqual([GAP, 100 + GAP - 1 + GAP]);
  });

  it('may be shorter than the shortest interval of the parser', () => {
    const detector = listen(0.5);
    clock.advance(10);
    hear(detector, 1);
    clock.advance(10);
    expect(silences).toEqual([0.5, 11]);
  });

  it('is not believed after a stall, before what came meanwhile was read', () => {
    const detector = listen();
    clock.advance(100);
    hear(detector, 1);
    // The timer of the parser is over, and the bytes that wait are read before the clock calls back.
    const callAfter = clock.callAfter.bind(clock);
    vi.spyOn(clock, 'callAfter').mockImplementation((ms, callback) => callAfter(ms + 3, callback));
    clock.advance(GAP + 1);
    hear(detector, 1);
    clock.advance(GAP + 2);
    expect(silences).toEqual([GAP]);
    clock.advance(10);
    expect(silences).toHaveLength(2);
  });

  it('is not told once it is stopped', () => {
    const detector = listen();
    hear(detector, 1);
    detector.stop();
    clock.advance(100);
    expect(silences).toEqual([]);
  });
});
