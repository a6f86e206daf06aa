/** Horizontal bars as an SVG that is readable on light and dark pages. */

export interface Bar {
  readonly label: string;
  readonly value: number;
}

const WIDTH = 760;
const LABEL_WIDTH = 270;
const ROW = 26;
const TOP = 44;
const VALUE_WIDTH = 70;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const room = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
  const rows = bars.map(({ label, value }, at) => {
    const y = TOP + at * ROW;
    const width = Math.max(1, (value / most) * room);
    return [
      `  <text x="${LABEL_WIDTH - 8}" y="${y + 13}" text-anchor="end">${escaped(label)}</text>`,
      `  <rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="18" rx="3"/>`,
      `  <text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${y + 13}">${value.toFixed(2)}</text>`,
    ].join('\n');
  });
  const height = TOP + bars.length * ROW + 8;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    '  <style>text{font:13px system-ui,sans-serif;fill:#667085}.title{font-weight:600}rect{fill:#3b82f6}</style>',
    `  <text class="title" x="8" y="22">${escaped(title)}</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}
