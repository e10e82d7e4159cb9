/** Where a key leads from an address; undefined for keys that do not move. */
export function moved(
  { key, ctrlKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey'>,
  at: number,
  grid: { readonly columns: number; readonly size: number; readonly rowsOfPage: number },
): number | undefined {
  const { columns, size, rowsOfPage } = grid;
  const rowStart = at - (at % columns);
  const last = size - 1;
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, at - 1);
    case 'ArrowRight':
      return Math.min(last, at + 1);
    case 'ArrowUp':
      return at < columns ? at : at - columns;
    case 'ArrowDown':
      return at + columns > last ? at : at + columns;
    case 'PageUp':
      return Math.max(at % columns, at - columns * rowsOfPage);
    case 'PageDown':
      return Math.min(last, at + columns * rowsOfPage);
    case 'Home':
      return ctrlKey ? 0 : rowStart;
    case 'End':
      return ctrlKey ? last : Math.min(last, rowStart + columns - 1);
    default:
      return undefined;
  }
}
