import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { RegisterView } from '../../../control/schemas/value.js';
import { serverNow } from '../../clock.js';
import { Plot } from '../../ui/plot.js';
import type { Course } from '../../ui/plot-layout.js';
import { extended, WINDOW_S } from './course.js';

/** The course of a value while it is selected. */
export function ValuePlot({ about }: { readonly about: RegisterView | undefined }) {
  const course = useSignal<Course>({ times: [], values: [] });
  useEffect(() => {
    if (about) course.value = extended(course.peek(), serverNow() / 1000, about.value);
  }, [about]);
  const { name = 'the register', unit } = about ?? {};
  const minutes = WINDOW_S / 60;
  return html`<${Plot} label=${`The last ${minutes} minutes of ${name}`} unit=${unit ?? ''} course=${course.value}
    longestS=${WINDOW_S}>${`Since it was selected, at most ${minutes} min${unit ? `, in ${unit}` : ''}`}<//>`;
}
