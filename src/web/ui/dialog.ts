import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  /** What happens when the form is sent. */
  readonly onSubmit: () => void;
  /** What happens on Escape; undefined where there is no way around the dialog. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
  /** The buttons: the one of type `submit` sends the form. */
  readonly buttons: ComponentChildren;
}

/** A form in front of everything else, which keeps its place and can't be reached meanwhile. */
export function Dialog({ title, onSubmit, onClose, children, buttons }: DialogProps) {
  const self = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    self.current?.showModal();
    // A dialog that is removed gives the focus back to nobody.
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return html`<dialog ref=${self} class="dialog" aria-labelledby=${id}
    onCancel=${(event: Event) => {
      event.preventDefault();
      onClose?.();
    }}>
    <form onSubmit=${(event: Event) => {
      event.preventDefault();
      onSubmit();
    }}>
      <h2 id=${id}>${title}</h2>
      <div class="body">${children}</div>
      <div class="buttons">${buttons}</div>
    </form>
  </dialog>`;
}
