import { type Cell, rowCells } from './layout.js';
import { anchor, columns, format, known, selected, size } from './state.js';

/** The range of registers that is marked, as text: one line for each row, tabs between cells. */
export function copied(): string {
  const [low, high] = [selected.peek(), anchor.peek()].sort((a, b) => a - b) as [number, number];
  const width = columns.peek();
  const lines: string[] = [];
  for (let first = low - (low % width); first <= high; first += width) {
    const cells = rowCells(known, format.peek(), { first, columns: width, size: size.peek() });
    const isMarked = ({ address, span }: Cell) => address + span > low && address <= high;
    lines.push(
      cells
        .filter(isMarked)
        .map(({ text }) => text)
        .join('\t'),
    );
  }
  return lines.join('\n');
}
