import type { ActionKind } from '../action-kind.js';

/** The whole device restarts. */
export const reset: ActionKind = {
  hasBounds: false,
  fields: 1,
  whyUnfit: () => undefined,
  run(image) {
    image.restart();
  },
};
