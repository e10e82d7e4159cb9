import { describe, expect, it } from 'vitest';
import {
  boxesOf,
  boxPath,
  drawingOf,
  labelsOf,
  laneAt,
  pausesOf,
} from '../../../src/common/timeline/drawing.js';
import { type Lane, type Piece, piecesOf, type StripEvent } from '../../../src/common/timeline/pieces.js';
import { lengthText, rulerFrom, rulerOfDay, ticksOf } from '../../../src/common/timeline/times.js';

type Step = NonNullable<StripEvent['steps']>[number];

const WIRE = { characterUs: 1000, t35Us: 4000 };
const xOf = (us: number) => us / 10;
const widthOf = (text: string) => 7 * text.length;

function piece(lane: Lane, startUs: number, endUs: number, label = lane as string): Piece {
  return { id: startUs, lane, look: 'request', startUs, endUs, label, words: label };
}

function event(fields: Partial<StripEvent> & { readonly exception?: number }): StripEvent {
  return { seq: 7, kind: '', monotonicUs: 10_000, text: 'words', ...fields };
}

describe('times in words', () => {
  it.each([
    [1752, 1000, '1.752 ms · 1.8 ch'],
    [1752, undefined, '1.752 ms'],
  ])('writes %i µs', (us, character, text) => expect(lengthText(us, character)).toBe(text));

  it('writes the ruler with the digits that tell its lines apart', () => {
    const { textOf } = rulerFrom(1000);
    expect([textOf(1500, 500), textOf(0, 500), textOf(-1000, 1000)]).toEqual(['+1.5 ms', '0 ms', '-1 ms']);
    const { textOf: clock } = rulerOfDay(0);
    expect([clock(3_723_250_000, 50_000), clock(3_723_000_000, 1e6)]).toEqual(['01:02:03.25', '01:02:03']);
  });

  it('has lines at round times', () => {
    const ticks = ticksOf(rulerFrom(0), 950, 4950, 1100);
    expect(ticks.map(({ us, text }) => [us, text])).toEqual([
      [2000, '+2 ms'],
      [4000, '+4 ms'],
    ]);
    expect(ticksOf(rulerFrom(0), -10, 50, 22).map(({ us }) => us)).toEqual([0, 50]);
  });

  it.each([50, 20_000, 500_000, 20e6])(
    'names the time of day at which each line stands, %i µs apart',
    (step) => {
      // The simulator's own clock is 7.654321 ms off any round time of day.
      const zeroUs = -(1_795_416_019 * 1e6 + 7_654_321);
      const ticks = ticksOf(rulerOfDay(zeroUs), 1000, 1000 + 12 * step, step);
      expect(ticks.length).toBeGreaterThan(4);
      for (const { us, text } of ticks) {
        const at = new Date(Math.floor((us - zeroUs) / 1000)).toISOString().slice(11, 23);
        const exact = `${at}${String((us - zeroUs) % 1000).padStart(3, '0')}`;
        expect([text, exact.slice(text.length).replace('.', '')]).toEqual([
          exact.slice(0, text.length),
          expect.stringMatching(/^0*$/),
        ]);
      }
    },
  );
});

describe('the pieces of an event', () => {
  it('are where its first and its last byte were', () => {
    const request = event({
      kind: 'request',
      bytes: '01 03',
      startedUs: 8000,
      pauseUs: 5000,
      name: 'read coils',
    });
    expect(piecesOf(request, WIRE)).toEqual([
      {
        id: 7,
        lane: 'received',
        look: 'request',
        startUs: 8000,
        endUs: 10_000,
        label: 'read coils',
        words: 'request 7, 2 bytes: words, after a pause of 5.000 ms · 5.0 ch',
        quietUs: 5000,
      },
    ]);
  });

  it.each([
    ['foreign response', 'foreign'],
    ['damaged', 'damaged'],
    ['duplicate', 'damaged'],
  ])('show what %s is', (kind, look) => {
    expect(piecesOf(event({ kind, bytes: '01' }), WIRE)[0]).toMatchObject({ look, lane: 'received' });
  });

  const step = (fields: Pick<Step, 'plannedUs' | 'achievedUs' | 'endedUs'> & Partial<Step>): Step => ({
    kind: 'bytes',
    bytes: '01 02',
    ...fields,
  });

  it('show each step of a reply as it was planned and as it was done, and the fault', () => {
    const reply = event({
      kind: 'reply',
      bytes: '01 02 01 02',
      requestedUs: 10_000,
      request: 6,
      faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }],
      steps: [
        step({ plannedUs: 5000, achievedUs: 5100, endedUs: 7100 }),
        step({ plannedUs: 9000, achievedUs: null, endedUs: null, reason: 'gone' }),
      ],
    });
    const pieces = piecesOf(reply, WIRE);
    expect(pieces.map(({ lane, look, startUs, endUs }) => [lane, look, startUs, endUs])).toEqual([
      ['planned', 'wait', 10_000, 14_000],
      ['planned', 'planned', 15_000, 17_000],
      ['sent', 'spoilt', 15_100, 17_100],
      ['planned', 'missing', 19_000, 21_000],
      ['notes', 'fault', 10_000, 21_000],
    ]);
    expect(pieces[2]?.words).toBe(
      'piece 1 of 2 of reply 7, 2 bytes, 5.100 ms after the request, 0.100 ms after the planned time, 2.000 ms · 2.0 ch long: words',
    );
    expect(pieces[3]?.label).toBe('not sent: gone');
    expect(pieces[4]?.label).toBe('slow: delay');
  });

  it('show a break as long as it was', () => {
    const steps = [{ kind: 'break', plannedUs: 0, achievedUs: 10, endedUs: 20_010 }];
    const reply = event({ kind: 'reply', requestedUs: 0, steps, faults: [] });
    expect(piecesOf(reply, WIRE)).toContainEqual(
      expect.objectContaining({ lane: 'sent', look: 'break', startUs: 10, endUs: 20_010 }),
    );
  });

  it.each([
    [[], 'reply'],
    [[{ rule: 'slow', kind: 'delay', outcome: 'applied' }], 'spoilt'],
    [[{ rule: 'torn', kind: 'break', outcome: 'not achieved' }], 'reply'],
  ])('tell replies that a fault has changed from others: %j', (faults, look) => {
    const steps = [step({ plannedUs: 0, achievedUs: 10, endedUs: 20 })];
    const reply = event({ kind: 'reply', requestedUs: 0, steps, faults, exception: 2 });
    expect(piecesOf(reply, WIRE).find(({ lane }) => lane === 'sent')?.look).toBe(look);
  });

  it('say why there is no reply', () => {
    const reply = event({ kind: 'reply', requestedUs: 9000, steps: [], faults: [], silence: 'rule mute' });
    expect(piecesOf(reply, { characterUs: undefined, t35Us: undefined })).toEqual([
      expect.objectContaining({ look: 'missing', startUs: 9000, endUs: 9000, label: 'no reply: rule mute' }),
    ]);
  });

  it.each([
    [{ silence: 'fault' }, 'spoilt'],
    [{ silence: 'no power' }, 'missing'],
    [{ silence: 'no power', faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }] }, 'spoilt'],
  ])('have the colour of the row where no reply was sent: %j', (why, look) => {
    const reply = event({ kind: 'reply', requestedUs: 9000, steps: [], ...why });
    expect(piecesOf(reply, WIRE).find(({ lane }) => lane === 'sent')?.look).toBe(look);
  });

  it('mark what is no bytes', () => {
    expect(piecesOf(event({ kind: 'collision' }), WIRE)[0]).toMatchObject({ lane: 'notes', startUs: 10_000 });
  });
});

describe('the layout', () => {
  it('leaves out what is not in view, and draws moments as wide as can be seen', () => {
    const pieces = [piece('sent', -500, -10), piece('sent', 100, 100), piece('sent', 5000, 6000)];
    expect(boxesOf(pieces, xOf, 400).map(({ x, width }) => [x, width])).toEqual([[10, 2]]);
  });

  it('draws one of many that fall on a pixel', () => {
    const crowd = Array.from({ length: 5000 }, (_, i) => piece('sent', i, i));
    expect(boxesOf(crowd, xOf, 400).length).toBeLessThanOrEqual(501);
  });

  it('writes labels on their pieces, or behind them where the next one leaves room', () => {
    const pieces = [piece('sent', 0, 1000), piece('sent', 2000, 2100), piece('sent', 2200, 2300)];
    const labels = labelsOf(boxesOf(pieces, xOf, 400), 400, widthOf);
    expect(labels.map(({ x, kind }) => [x, kind])).toEqual([
      [4, 'inside'],
      [234, 'beside'],
    ]);
  });

  it('never writes two labels over each other', () => {
    const pieces = Array.from({ length: 200 }, (_, i) => piece('sent', 37 * i, 37 * i + (i % 7) * 30));
    const labels = labelsOf(boxesOf(pieces, xOf, 800), 800, widthOf).sort((a, b) => a.x - b.x);
    for (const [i, { x, text }] of labels.entries())
      expect(x + widthOf(text)).toBeLessThanOrEqual(labels[i + 1]?.x ?? 800);
  });

  it('measures the pauses between pieces of both directions, in the words that have room', () => {
    const pieces = [piece('received', 0, 1000), piece('sent', 3000, 4000), piece('received', 4200, 5000)];
    expect(pausesOf(pieces, { xOf, width: 1000, characterUs: 1000, widthOf })).toEqual([
      { x: 100, width: 200, text: '2.000 ms · 2.0 ch', isBroken: false },
      { x: 400, width: 20, text: '', isBroken: false },
    ]);
  });

  it('breaks a gap in which frames passed that are not shown, and gives the silence of the event', () => {
    const request = event({
      kind: 'request',
      bytes: '01',
      startedUs: 1_950_000,
      monotonicUs: 1_951_000,
      pauseUs: 4000,
    });
    const steps: Step[] = [
      { kind: 'bytes', bytes: '01', plannedUs: 2000, achievedUs: 2000, endedUs: 3000 },
      { kind: 'bytes', bytes: '01', plannedUs: 9000, achievedUs: 9000, endedUs: 10_000 },
    ];
    const reply = event({ kind: 'reply', monotonicUs: 4_000_000, requestedUs: 3_998_000, steps });
    const pieces = [piece('received', 0, 1000), ...piecesOf(request, WIRE), ...piecesOf(reply, WIRE)];
    const pauses = pausesOf(pieces, { xOf, width: 500_000, characterUs: 1000, widthOf });
    expect(pauses.map(({ text, isBroken }) => [isBroken, text])).toEqual([
      [true, 'frames not shown, then 4.000 ms · 4.0 ch'],
      [true, 'frames not shown, then 2.000 ms · 2.0 ch'],
      [false, '6.000 ms · 6.0 ch'],
    ]);
  });

  it('does not break the pause that a clock has measured a little shorter', () => {
    const late = { ...piece('received', 5000, 6000), quietUs: 3950 };
    const pieces = [piece('received', 0, 1000), late];
    expect(pausesOf(pieces, { xOf, width: 1000, characterUs: undefined, widthOf })).toEqual([
      { x: 100, width: 400, text: '4.000 ms', isBroken: false },
    ]);
  });

  it('measures a pause as a whole, and writes it where it is seen', () => {
    const pieces = [piece('received', -20_000, -10_000), piece('sent', 2000, 3000)];
    expect(pausesOf(pieces, { xOf, width: 400, characterUs: undefined, widthOf })).toEqual([
      { x: -4, width: 204, text: '12.000 ms', isBroken: false },
    ]);
  });

  it('sees no pause where pieces overlap', () => {
    const pieces = [piece('sent', 0, 5000), piece('received', 1000, 2000), piece('received', 5000, 6000)];
    expect(pausesOf(pieces, { xOf, width: 1000, characterUs: undefined, widthOf })).toEqual([]);
  });

  it('is drawn between the lines of its rows, with the lines of the ruler', () => {
    const pieces = [piece('received', 0, 1000), piece('sent', 3000, 3000)];
    const ticks = [{ us: 2000, text: '+2 ms' }];
    const drawing = drawingOf(pieces, { xOf, width: 400, characterUs: 1000, widthOf, ticks });
    const kinds = drawing.texts.map(({ kind, text }) => `${kind}: ${text}`);
    expect(kinds).toEqual(['tick: +2 ms', 'inside: received', 'beside: sent', 'pause: 2.000 ms · 2.0 ch']);
    expect(drawing.grid).toContain('M200.5 0V144');
    expect(drawing.boxes.map((box) => boxPath(box))).toEqual([
      'M0.5 26.5h99v18h-99z',
      'M300.5 52.5h1v18h-1z',
    ]);
    expect(['received', 'sent', undefined, 'planned']).toEqual([30, 60, 80, 100].map(laneAt));
  });

  it('has no lines of time where there is nothing', () => {
    const drawing = drawingOf([], { xOf, width: 400, characterUs: undefined, widthOf, ticks: [] });
    expect([drawing.boxes, drawing.texts, drawing.pauses]).toEqual([[], [], '']);
  });
});
