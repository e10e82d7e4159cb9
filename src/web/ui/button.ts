import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import './button.css';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `main`: what the form is for. `danger`: what can't be undone. */
  readonly kind?: 'plain' | 'main' | 'danger';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Says what the button is about where its text alone does not. */
  readonly label?: string;
  readonly onClick?: () => void;
}

/** A button. What it is about stands in its text or its label. */
export function Button({
  children,
  kind = 'plain',
  type = 'button',
  disabled = false,
  label,
  onClick,
}: ButtonProps) {
  return html`<button class=${`button ${kind}`} type=${type} disabled=${disabled} aria-label=${label}
    title=${label} onClick=${onClick}>${children}</button>`;
}
