/** Measures the width of an element, and whether the page is as narrow as a phone. */

import { type Signal, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const phone = matchMedia('(max-width: 640px)');
/** Whether the page is narrow. It then folds rarely used parts and leaves out keyboard hints. */
export const isNarrow: Signal<boolean> = signal(phone.matches);
phone.addEventListener('change', ({ matches }) => (isNarrow.value = matches));

/** @returns the width of an element, updated when it changes, and the `ref` to give to the element */
export function useRoom(): readonly [number, RefObject<HTMLDivElement | null>] {
  const element = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(innerWidth);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    const measure = (): void => setRoom(Math.floor(element.current?.clientWidth ?? innerWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return [room, element];
}
