/** Indents a text, and wraps it at a readable width. */
export const wrapped = (text: string, indent = ''): string[] =>
  (text.match(/.{1,98}(?:\s|$)/g) ?? []).map((line) => `${indent}${line.trimEnd()}`);
