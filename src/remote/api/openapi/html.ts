/** A piece of HTML that can be put into a page as it is. */
export interface Html {
  readonly html: string;
}

/** Builds HTML. Inserted text is escaped; inserted pieces of HTML and lists of them are not. */
export function html(
  texts: TemplateStringsArray,
  ...parts: readonly (string | Html | readonly Html[])[]
): Html {
  return { html: texts.map((text, i) => text + shown(parts[i] ?? '')).join('') };
}

function shown(part: string | Html | readonly Html[]): string {
  if (typeof part === 'string') return part.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
  return 'html' in part ? part.html : part.map((each) => each.html).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Converts text in which backquotes mark code. */
export function prose(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`));
}
