import { describe, expect, it } from 'vitest';
import type { StreamedView } from '../../../src/api/v1/traffic-view.js';
import { piecesOf } from '../../../src/web/strip/event-pieces.js';
import { boxesOf, labelsOf, neighbour, pausesOf, pieceAt, snapped } from '../../../src/web/strip/layout.js';
import { StripModel, sourceOf } from '../../../src/web/strip/model.js';
import type { Lane, Piece } from '../../../src/web/strip/piece.js';
import { fitted, pinched, ticks, usAt, xOf, zoomed } from '../../../src/web/strip/scale.js';
import { lengthText, ticksFrom, ticksOfClock } from '../../../src/web/strip/times.js';

const WIRE = { characterUs: 1000, t35Us: 4000 };
const SCALE = { fromUs: 0, usPerPixel: 10 };
const widthOf = (text: string) => 7 * text.length;

function piece(lane: Lane, startUs: number, endUs: number, label = lane as string): Piece {
  return { id: startUs, lane, look: 'ours', startUs, endUs, label, words: label };
}

function event(fields: object): StreamedView {
  const common = { seq: 7, line: 'bus', direction: 'in', time: '', monotonicUs: 10_000, text: 'words' };
  return { ...common, ...fields } as StreamedView;
}

describe('a scale', () => {
  it('keeps the moment under the pointer where it is', () => {
    const scale = { fromUs: 500, usPerPixel: 20 };
    expect(usAt(zoomed(scale, 3, 120), 120)).toBeCloseTo(usAt(scale, 120));
    expect(zoomed(scale, 3, 120).usPerPixel).toBeCloseTo(20 / 3);
  });

  it('keeps the moments under both fingers where they are', () => {
    const scale = { fromUs: 500, usPerPixel: 20 };
    const after = pinched(scale, [100, 200], [50, 350]);
    expect(usAt(after, 50)).toBeCloseTo(usAt(scale, 100));
    expect(usAt(after, 350)).toBeCloseTo(usAt(scale, 200));
  });

  it('survives fingers on one place', () => {
    expect(pinched(SCALE, [100, 100], [120, 150])).toEqual({ fromUs: -350, usPerPixel: 10 });
    expect(pinched(SCALE, [100, 200], [150, 150]).usPerPixel).toBe(10);
  });

  it('fits a span into the middle eight tenths', () => {
    const scale = fitted(1000, 9000, 1000);
    expect([xOf(scale, 1000), xOf(scale, 9000)]).toEqual([100, 900]);
  });

  it('has bounds, also for a span of nothing', () => {
    expect(fitted(5, 5, 1000).usPerPixel).toBeGreaterThan(0);
    expect(zoomed(SCALE, 1e-12, 0).usPerPixel).toBeLessThanOrEqual(60e6);
  });

  it('has lines at round times', () => {
    expect(ticks({ fromUs: 950, usPerPixel: 10 }, 400)).toEqual({ stepUs: 2000, at: [2000, 4000] });
    expect(ticks({ fromUs: -10, usPerPixel: 0.2 }, 300)).toMatchObject({ stepUs: 50, at: [0, 50] });
  });
});

describe('times in words', () => {
  it.each([
    [1752, 1000, '1.752 ms · 1.8 ch'],
    [1752, undefined, '1.752 ms'],
  ])('writes %i µs', (us, character, text) => expect(lengthText(us, character)).toBe(text));

  it('writes the ruler with the digits that tell its lines apart', () => {
    expect([ticksFrom(1000)(2500, 500), ticksFrom(1000)(1000, 500), ticksFrom(1000)(0, 1000)]).toEqual([
      '+1.5 ms',
      '0 ms',
      '-1 ms',
    ]);
    const clock = ticksOfClock(0);
    expect([clock(3_723_250_000, 50_000), clock(3_723_000_000, 1e6)]).toEqual(['01:02:03.25', '01:02:03']);
  });
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
        look: 'ours',
        startUs: 8000,
        endUs: 10_000,
        label: 'read coils',
        words: 'request 7, 2 bytes: words, after a pause of 5.000 ms · 5.0 ch',
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

  const step = (fields: object) => ({ kind: 'bytes', bytes: '01 02', outcome: 'achieved', ...fields });

  it('show each step of a reply as it was planned and as it was done, and the fault', () => {
    const reply = event({
      kind: 'reply',
      bytes: '01 02 01 02',
      requestedUs: 10_000,
      request: 6,
      faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }],
      steps: [
        step({ plannedUs: 5000, achievedUs: 5100, endedUs: 7100 }),
        step({ plannedUs: 9000, achievedUs: null, endedUs: null, outcome: 'not achieved', reason: 'gone' }),
      ],
    });
    const pieces = piecesOf(reply, WIRE);
    expect(pieces.map(({ lane, look, startUs, endUs }) => [lane, look, startUs, endUs])).toEqual([
      ['planned', 'wait', 10_000, 14_000],
      ['planned', 'planned', 15_000, 17_000],
      ['sent', 'ours', 15_100, 17_100],
      ['planned', 'missing', 19_000, 21_000],
      ['notes', 'fault', 10_000, 21_000],
    ]);
    expect(pieces[2]?.words).toBe(
      'piece 1 of 2 of reply 7, 2 bytes, 5.100 ms after the request, 0.100 ms after its plan, 2.000 ms · 2.0 ch long: words',
    );
    expect(pieces[3]?.label).toBe('not sent: gone');
    expect(pieces[4]?.label).toBe('slow: delay');
  });

  it('show a break as long as it was', () => {
    const steps = [{ kind: 'break', plannedUs: 0, achievedUs: 10, endedUs: 20_010, outcome: 'achieved' }];
    const reply = event({ kind: 'reply', requestedUs: 0, steps, faults: [] });
    expect(piecesOf(reply, WIRE)).toContainEqual(
      expect.objectContaining({ lane: 'sent', look: 'break', startUs: 10, endUs: 20_010 }),
    );
  });

  it('say why there is no reply', () => {
    const reply = event({ kind: 'reply', requestedUs: 9000, steps: [], faults: [], silence: 'rule mute' });
    expect(piecesOf(reply, { characterUs: undefined, t35Us: undefined })).toEqual([
      expect.objectContaining({ look: 'missing', startUs: 9000, endUs: 9000, label: 'no reply: rule mute' }),
    ]);
  });

  it('mark what is no bytes, and leave out what was left out', () => {
    expect(piecesOf(event({ kind: 'collision' }), WIRE)[0]).toMatchObject({ lane: 'notes', startUs: 10_000 });
    expect(piecesOf({ kind: 'left out', count: 3, text: '' }, WIRE)).toEqual([]);
  });
});

describe('the layout', () => {
  it('leaves out what is not in view, and draws moments as wide as can be seen', () => {
    const pieces = [piece('sent', -500, -10), piece('sent', 100, 100), piece('sent', 5000, 6000)];
    expect(boxesOf(pieces, SCALE, 400).map(({ x, width }) => [x, width])).toEqual([[10, 2]]);
  });

  it('draws one of many that fall on a pixel', () => {
    const crowd = Array.from({ length: 5000 }, (_, i) => piece('sent', i, i));
    expect(boxesOf(crowd, SCALE, 400).length).toBeLessThanOrEqual(501);
  });

  it('writes labels on their pieces, or behind them where the next one leaves room', () => {
    const pieces = [piece('sent', 0, 1000), piece('sent', 2000, 2100), piece('sent', 2200, 2300)];
    const labels = labelsOf(boxesOf(pieces, SCALE, 400), 400, widthOf);
    expect(labels.map(({ x, isInside }) => [x, isInside])).toEqual([
      [4, true],
      [234, false],
    ]);
  });

  it('never writes two labels over each other', () => {
    const pieces = Array.from({ length: 200 }, (_, i) => piece('sent', 37 * i, 37 * i + (i % 7) * 30));
    const labels = labelsOf(boxesOf(pieces, SCALE, 800), 800, widthOf).sort((a, b) => a.x - b.x);
    for (const [i, { x, text }] of labels.entries())
      expect(x + widthOf(text)).toBeLessThanOrEqual(labels[i + 1]?.x ?? 800);
  });

  it('measures the pauses between pieces of both directions, in the words that have room', () => {
    const pieces = [piece('received', 0, 1000), piece('sent', 3000, 4000), piece('received', 4200, 5000)];
    expect(pausesOf(pieces, SCALE, 1000, widthOf)).toEqual([
      { x: 100, width: 200, text: '2.000 ms · 2.0 ch' },
      { x: 400, width: 20, text: '' },
    ]);
  });

  it('sees no pause where pieces overlap', () => {
    const pieces = [piece('sent', 0, 5000), piece('received', 1000, 2000), piece('received', 5000, 6000)];
    expect(pausesOf(pieces, SCALE, undefined, widthOf)).toEqual([]);
  });

  it('finds the piece under a pointer, and the edge beside it', () => {
    const boxes = boxesOf([piece('sent', 1000, 2000), piece('planned', 1000, 1000)], SCALE, 400);
    expect(pieceAt(boxes, 'sent', 150)?.startUs).toBe(1000);
    expect(pieceAt(boxes, 'planned', 106)?.lane).toBe('planned');
    expect(pieceAt(boxes, 'planned', 110)).toBeUndefined();
    expect([snapped(boxes, SCALE, 203), snapped(boxes, SCALE, 300)]).toEqual([2000, 3000]);
  });

  it('goes through all pieces in time, each once', () => {
    const pieces = [
      piece('notes', 0, 0),
      piece('sent', 0, 5),
      piece('sent', 0, 5, 'twin'),
      piece('received', 9, 9),
    ];
    const walked: Piece[] = [];
    for (let at: Piece | undefined = pieces[1]; at; at = neighbour(pieces, at, 1)) walked.push(at);
    expect(walked.map(({ label }) => label)).toEqual(['sent', 'twin', 'notes', 'received']);
    expect(neighbour(pieces, pieces[1] as Piece, -1)).toBeUndefined();
  });
});

describe('the model of a strip', () => {
  function modelOf(pieces: readonly Piece[]): StripModel {
    const model = new StripModel();
    model.resize(1000);
    model.setSource(sourceOf(pieces, WIRE));
    return model;
  }

  it('follows what comes until somebody looks elsewhere', () => {
    const model = modelOf([piece('sent', 0, 1e6)]);
    expect(xOf(model.scale.value, 1e6)).toBeCloseTo(940);
    model.move(300);
    model.setSource(sourceOf([piece('sent', 0, 2e6)], WIRE));
    expect(xOf(model.scale.value, 1e6)).toBeCloseTo(1240);
    model.follow();
    expect(xOf(model.scale.value, 2e6)).toBeCloseTo(940);
  });

  it('goes on following while it is zoomed', () => {
    const model = modelOf([piece('sent', 0, 1e6)]);
    model.zoom(2);
    expect(xOf(model.scale.value, 1e6)).toBeCloseTo(940);
    expect(model.isFollowing.value).toBe(true);
  });

  it('brings a piece that is out of view into the middle when it gets the focus', () => {
    const model = modelOf([piece('sent', 0, 100), piece('sent', 1e6, 1e6 + 100)]);
    model.step(1);
    expect(model.focus.value?.startUs).toBe(1e6);
    model.step(-1);
    expect(model.focus.value?.startUs).toBe(0);
    expect(xOf(model.scale.value, 0)).toBeCloseTo(500);
  });

  it('measures between two cursors, and begins anew with the third', () => {
    const model = modelOf([]);
    model.setCursor(5000);
    expect(model.measured.value).toBeUndefined();
    model.setCursor(2000);
    expect(model.measured.value).toBe('3.000 ms · 3.0 ch');
    model.setCursor(1);
    expect(model.measured.value).toBeUndefined();
  });

  it('shows all', () => {
    const model = modelOf([piece('sent', 0, 100), piece('sent', 1e6, 2e6)]);
    model.fit();
    expect([xOf(model.scale.value, 0), xOf(model.scale.value, 2e6)]).toEqual([100, 900]);
  });

  it('goes on following when all is asked for and there is nothing yet', () => {
    const model = modelOf([]);
    model.fit();
    model.setSource(sourceOf([piece('sent', 1e6, 2e6)], undefined, 1e6));
    expect(model.isFollowing.value).toBe(true);
    expect(xOf(model.scale.value, 2e6)).toBeCloseTo(940);
  });
});
