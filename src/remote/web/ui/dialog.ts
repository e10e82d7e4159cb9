import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button, put, sent } from './controls.js';

interface DialogProps {
  readonly title: string;
  /** Called when the form is sent. */
  readonly onSubmit: () => void;
  /** Called on Escape; undefined if the dialog can't be closed that way. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
  /** The buttons. The one of type `submit` sends the form. */
  readonly buttons: ComponentChildren;
}

/** A form on top of everything else. */
export function Dialog({ title, onSubmit, onClose, children, buttons }: DialogProps) {
  const self = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    self.current?.showModal();
    // Removing a dialog leaves nothing focused.
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return html`<dialog ref=${self} class="dialog panel" aria-labelledby=${id}
    onCancel=${(event: Event) => {
      event.preventDefault();
      onClose?.();
    }}>
    <form onSubmit=${sent(onSubmit)}>
      <h2 id=${id}>${title}</h2>
      <div class="stack">${children}</div>
      <div class="buttons flow">${buttons}</div>
    </form>
  </dialog>`;
}

interface QuestionProps {
  readonly title: string;
  /** What will happen. */
  readonly text: string;
  /** The texts of the two buttons. */
  readonly no?: string;
  readonly yes: string;
  readonly onClose: () => void;
  readonly onYes: () => void;
}

/** Asks before an action that can't be undone. */
export function Question({ title, text, no = 'Cancel', yes, onClose, onYes }: QuestionProps) {
  const submit = () => {
    onClose();
    onYes();
  };
  return html`<${Dialog} title=${title} onSubmit=${submit} onClose=${onClose}
    buttons=${html`<${Button} onClick=${onClose}>${no}<//><${Button} kind="danger" type="submit">${yes}<//>`}>
    <p class="long">${text}</p>
  <//>`;
}

interface AskingButtonProps extends Pick<QuestionProps, 'title' | 'text' | 'onYes'> {
  readonly children: string;
  readonly label?: string;
  readonly disabled?: boolean;
  readonly writes?: boolean;
}

/** A button for an action that can't be undone: it asks for confirmation. */
export function AskingButton({ children, label, disabled, writes, ...question }: AskingButtonProps) {
  const isAsking = useSignal(false);
  return html`<${Button} kind="danger" label=${label} disabled=${disabled} writes=${writes} onClick=${put(isAsking, true)}>${children}<//>
    ${isAsking.value ? html`<${Question} ...${question} yes=${children} onClose=${put(isAsking, false)} />` : null}`;
}
