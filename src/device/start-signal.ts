import { seedOf } from '../common/random.js';
import type { DependencyGraph } from './dependency-graph.js';
import type { PlacedSignal, Point } from './point.js';
import type { DeviceClock } from './signals/clock.js';
import type { Pace, Signal } from './signals/signal.js';

/** The device in which a signal runs. */
export interface SignalHome {
  readonly device: string;
  readonly clock: DeviceClock;
  readonly seed: number;
  readonly graph: DependencyGraph;
}

/**
 * Starts a signal.
 * @param place distinguishes the random values of this signal from those of the others in the device
 */
export function startSignal(
  home: SignalHome,
  place: string,
  { definition, seed, openTrack }: PlacedSignal,
): Signal {
  return definition.start({
    seed: seed ?? seedOf(home.seed, `${home.device} ${place}`),
    pace: paceOf(home),
    named: (name) => signalNamed(home, name),
    trackOf() {
      if (!openTrack) throw new Error('a playback signal was placed without a recording');
      return openTrack();
    },
  });
}

/** Returns how closely the signals of a device may sample others at present. */
export function paceOf({ clock, graph }: SignalHome): Pace {
  return {
    get steps() {
      return graph.stepsAtOnce;
    },
    get width() {
      return clock.settings.speed;
    },
  };
}

/**
 * Returns a signal that looks up the named value each time, so that it stays correct when the value's signal
 * is replaced.
 */
export function signalNamed({ device, clock, graph }: SignalHome, name: string): Signal {
  const find = () => graph.find(device, name);
  return {
    valueAt(time) {
      const found = find();
      return found ? found.points.valueAtMoment(found.point, time, clock) : Number.NaN;
    },
    get integral() {
      const found = find();
      return found?.points.device === device ? integralOf(found.point) : undefined;
    },
  };
}

/**
 * Returns the exact integral of a value of the same device. It exists for some signals, and for values
 * without a signal.
 */
function integralOf(point: Point): Signal['integral'] {
  if (point.signal) return point.signal.integral;
  return (from, to) => (point.stored * (to - from)) / 1000;
}
