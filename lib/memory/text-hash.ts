/** A hash that detects differences between texts, but no attacks. */
export function textHash(text: string): string {
  const { imul } = Math;
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let at = 0; at < text.length; at += 1) {
    one = imul(one ^ text.charCodeAt(at), 0x01000193);
    other = imul(other ^ text.charCodeAt(at), 0x85ebca6b) + at;
  }
  return `${(one >>> 0).toString(36)}${(other >>> 0).toString(36)}x${text.length.toString(36)}`;
}
