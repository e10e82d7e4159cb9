import { describe, expect, it } from 'vitest';
import { boxesOf } from '../../../src/common/timeline/drawing.js';
import type { Lane, Piece } from '../../../src/common/timeline/pieces.js';
import {
  fitted,
  neighbour,
  pieceAt,
  pinched,
  StripModel,
  snapped,
  sourceOf,
  usAt,
  xOf,
  zoomed,
} from '../../../src/remote/web/strip/model.js';

const WIRE = { characterUs: 1000, t35Us: 4000 };
const SCALE = { fromUs: 0, usPerPixel: 10 };

function piece(lane: Lane, startUs: number, endUs: number, label = lane as string): Piece {
  return { id: startUs, lane, look: 'request', startUs, endUs, label, words: label };
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
});

describe('pieces', () => {
  it('finds the piece under a pointer, and the edge beside it', () => {
    const boxes = boxesOf([piece('sent', 1000, 2000), piece('planned', 1000, 1000)], (us) => us / 10, 400);
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

  it('has no ruler while there is nothing', () => {
    expect(modelOf([]).source.value.rulerAt(0)).toBeUndefined();
    expect(modelOf([piece('sent', 500, 600)]).source.value.rulerAt(0)?.zeroUs).toBe(500);
  });

  it('goes on following when all is asked for and there is nothing yet', () => {
    const model = modelOf([]);
    model.fit();
    model.setSource(sourceOf([piece('sent', 1e6, 2e6)], undefined, 1e6));
    expect(model.isFollowing.value).toBe(true);
    expect(xOf(model.scale.value, 2e6)).toBeCloseTo(940);
  });
});
