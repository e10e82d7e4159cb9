import { effect, signal } from '@preact/signals';

const KEY = 'modbus-sim-theme';

/** `auto` follows the setting of the operating system. */
export type Theme = 'auto' | 'light' | 'dark';

export const theme = signal<Theme>(kept());

/** Shows the theme, and keeps it for the next visit. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // A browser that keeps nothing shows `auto` at the next visit.
    }
  });
}

/** The next one in the round of the switch. */
export function nextTheme(): void {
  const round = { auto: 'light', light: 'dark', dark: 'auto' } as const;
  theme.value = round[theme.value];
}

function kept(): Theme {
  try {
    const text = localStorage.getItem(KEY);
    return text === 'light' || text === 'dark' ? text : 'auto';
  } catch {
    return 'auto';
  }
}
