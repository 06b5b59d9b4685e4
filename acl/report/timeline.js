// Draws the timeline of a page: lanes below each other, slices as boxes, memory as areas, findings as triangles.
// Only what is in view is drawn, so that a move costs as much as the boxes that are wider than a pixel.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const box = document.getElementById("timeline");
  const sheet = box.firstElementChild;
  const canvas = box.querySelector("canvas");
  const tip = document.getElementById("tip");
  const pen = canvas.getContext("2d");
  const AXIS = 24, TITLE = 18, ROW = 18, AREA = 48, GAP = 8, MARK = 5; // pixels
  const LEAST = 50; // nanoseconds in view
  const end = Math.max(data.end, LEAST);
  const view = {from: 0, to: end};
  let width = 0, height = 0; // of what is visible
  let picked = null; // the slice or mark under the pointer
  let ink, rule, paper; // colours that depend on the theme

  // ---- the lanes ----

  let total = AXIS;
  for (const lane of data.lanes) {
    lane.top = total;
    if (lane.bytes) {
      lane.peak = Math.max(1, lane.bytes.reduce((most, bytes) => Math.max(most, bytes), 0));
      lane.height = TITLE + AREA + GAP;
    } else {
      let reach = 0;
      lane.reach = lane.start.map((start, i) => reach = Math.max(reach, start + lane.length[i]));
      lane.height = TITLE + ROW * (1 + lane.depth.reduce((most, depth) => Math.max(most, depth), 0)) + GAP;
    }
    total += lane.height;
  }
  sheet.style.height = total + "px";

  // The number of elements of a sorted array that are below a value.
  function below(array, value) {
    let low = 0, high = array.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (array[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  // ---- texts ----

  function scaled(value, units) {
    const [unit, name] = units.find(([unit]) => Math.abs(value) >= unit) || units[units.length - 1];
    return `${Number((value / unit).toPrecision(4))} ${name}`;
  }
  const time = (ns) => scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
  const sizes = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]];
  const size = (bytes) => scaled(bytes, sizes);

  // ---- drawing ----

  const x = (ns) => (ns - view.from) / (view.to - view.from) * width;
  const ns = (pixel) => view.from + pixel / width * (view.to - view.from);
  const rowTop = (lane, depth) => lane.top + TITLE + ROW * depth - box.scrollTop;

  // The times of the axis: round numbers, about 110 pixels apart.
  function ticks() {
    const rough = (view.to - view.from) / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
    const found = [];
    for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) found.push(tick);
    return found;
  }

  function drawGrid() {
    pen.strokeStyle = rule;
    for (const tick of ticks()) line(Math.round(x(tick)) + 0.5, AXIS, Math.round(x(tick)) + 0.5, height);
  }

  function drawAxis() {
    pen.fillStyle = paper;
    pen.fillRect(0, 0, width, AXIS);
    pen.fillStyle = ink;
    for (const tick of ticks())
      if (x(tick) < width - 40) pen.fillText(tick === 0 ? "0" : time(tick), x(tick) + 4, AXIS / 2);
    pen.strokeStyle = rule;
    line(0, AXIS - 0.5, width, AXIS - 0.5);
  }

  function line(...points) {
    pen.beginPath();
    for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i], points[i + 1]);
    pen.stroke();
  }

  // Boxes that begin in the pixel of the one before are left out, except failures. Returns how many were drawn.
  function drawSlices(lane) {
    const drawn = [];
    let count = 0;
    for (let i = below(lane.reach, view.from); i < lane.start.length && lane.start[i] <= view.to; i++) {
      const kind = data.texts[lane.kind[i]], depth = lane.depth[i];
      const left = Math.max(x(lane.start[i]), -1);
      const right = Math.min(Math.max(x(lane.start[i] + lane.length[i]), left + 1), width + 1);
      if (right < 0 || (right <= (drawn[depth] ?? -1) && kind !== "failed")) continue;
      const top = rowTop(lane, depth);
      drawn[depth] = Math.ceil(right);
      count++;
      pen.fillStyle = data.colours[kind];
      pen.fillRect(left, top, right - left, ROW - 1);
      pen.strokeStyle = pen.fillStyle = "#0005"; // a frame, which fills a narrow box
      if (right - left > 3) pen.strokeRect(left + 0.5, top + 0.5, right - left - 1, ROW - 2);
      else pen.fillRect(left, top, right - left, ROW - 1);
      const letters = Math.floor((right - Math.max(left, 0) - 6) / 6.3);
      if (letters > 2) {
        const name = data.texts[lane.name[i]];
        pen.fillStyle = kind === "failed" ? "#fff" : "#222";
        const shown = name.length > letters ? name.slice(0, letters - 1) + "…" : name;
        pen.fillText(shown, Math.max(left, 0) + 4, top + ROW / 2);
      }
    }
    return count;
  }

  function drawMarks(lane) {
    for (const [at] of lane.marks) {
      const middle = x(at), top = rowTop(lane, 0);
      if (middle < -MARK || middle > width + MARK) continue;
      pen.fillStyle = data.colours.failed;
      pen.beginPath();
      pen.moveTo(middle, top);
      pen.lineTo(middle - MARK, top - 2 * MARK);
      pen.lineTo(middle + MARK, top - 2 * MARK);
      pen.fill();
    }
  }

  function drawArea(lane) {
    const bottom = rowTop(lane, 0) + AREA, scale = (AREA - 2) / lane.peak;
    const first = Math.max(0, below(lane.times, view.from) - 1);
    let last = -Infinity, most = 0; // of the changes within one pixel the largest is drawn
    const steps = [];
    for (let i = first; i < lane.times.length && lane.times[i] <= view.to; i++) {
      const left = Math.max(0, x(lane.times[i]));
      if (left - last >= 1) {
        steps.push([left, lane.bytes[i], lane.bytes[i]]);
        last = left;
        most = lane.bytes[i];
      } else {
        most = Math.max(most, lane.bytes[i]);
        steps[steps.length - 1] = [last, most, lane.bytes[i]];
      }
    }
    pen.fillStyle = data.colours.copy;
    steps.forEach(([left, top, after], i) => {
      const right = i + 1 < steps.length ? steps[i + 1][0] : width;
      pen.fillRect(left, bottom - top * scale, Math.min(1, right - left), top * scale);
      pen.fillRect(left, bottom - after * scale, right - left, after * scale);
    });
    pen.strokeStyle = rule;
    line(0, bottom + 0.5, width, bottom + 0.5);
    return steps.length;
  }

  function drawArrows(lane, first, last) {
    const place = data.lanes.indexOf(lane);
    const inside = (number, at) => number === place && at >= first && at <= last;
    pen.strokeStyle = ink;
    let count = 0;
    for (const [from, begin, to, finish] of data.arrows) {
      if (!inside(from, begin) && !inside(to, finish)) continue;
      if (++count > 200) break;
      const top = rowTop(data.lanes[from], 0) + ROW / 2, bottom = rowTop(data.lanes[to], 0) + ROW / 2;
      const left = x(begin), right = x(finish), bend = (bottom - top) / 2;
      pen.beginPath();
      pen.moveTo(left, top);
      pen.bezierCurveTo(left, top + bend, right, bottom - bend, right, bottom);
      pen.stroke();
      pen.beginPath();
      pen.arc(right, bottom, 2.5, 0, 7);
      pen.stroke();
    }
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    width = box.clientWidth;
    height = Math.min(total, box.clientHeight);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = height + "px";
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    drawGrid();
    let count = 0;
    for (const lane of data.lanes) {
      const top = lane.top - box.scrollTop;
      if (top + lane.height < AXIS || top > height) continue;
      pen.fillStyle = ink;
      pen.fillText(lane.title + (lane.bytes ? `, at most ${size(lane.peak)}` : ""), 4, top + TITLE / 2);
      count += lane.bytes ? drawArea(lane) : drawSlices(lane);
      if (lane.marks) drawMarks(lane);
    }
    if (picked && !picked.lane.bytes) {
      const left = x(picked.start), right = Math.max(x(picked.start + picked.length), left + 2);
      pen.strokeStyle = ink;
      pen.strokeRect(left, rowTop(picked.lane, picked.depth), right - left, ROW - 1);
      drawArrows(picked.lane, picked.start, picked.start + picked.length);
    }
    drawAxis();
    canvas.dataset.drawn = count;
  }

  let waits = false;
  function redraw() {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      draw();
    });
  }

  function readTheme() {
    const style = getComputedStyle(box);
    ink = style.color;
    rule = style.borderTopColor;
    paper = style.backgroundColor;
  }

  // ---- what is under the pointer ----

  function find(left, top) {
    const y = top + box.scrollTop;
    const lane = data.lanes.find((each) => y >= each.top && y < each.top + each.height);
    if (!lane || top < AXIS) return null;
    const at = ns(left), near = ns(left + 3) - at;
    if (lane.bytes) {
      const i = below(lane.times, at) - 1;
      const lines = [["in use", size(lane.bytes[i])]];
      return i < 0 ? null : {lane, start: lane.times[i], length: 0, name: lane.title, lines};
    }
    if (y - lane.top < TITLE) {
      const mark = lane.marks.find(([moment]) => Math.abs(moment - at) <= 2 * near);
      if (!mark) return null;
      return {lane, start: mark[0], length: 0, depth: 0, name: data.texts[mark[1]], lines: pairs(mark[2])};
    }
    const depth = Math.floor((y - lane.top - TITLE) / ROW);
    for (let i = below(lane.start, at + near) - 1; i >= 0 && lane.reach[i] >= at - near; i--)
      if (lane.depth[i] === depth && lane.start[i] + lane.length[i] >= at - near) {
        const name = data.texts[lane.name[i]], lines = pairs(lane.args[i]);
        return {lane, start: lane.start[i], length: lane.length[i], depth, name, lines};
      }
    return null;
  }

  function pairs(numbers) {
    const found = [];
    for (let i = 0; i < numbers.length; i += 2) found.push([data.texts[numbers[i]], data.texts[numbers[i + 1]]]);
    return found;
  }

  function show(found, event) {
    picked = found;
    tip.hidden = !found;
    if (found) {
      const title = document.createElement("b");
      title.textContent = found.name;
      const took = found.length ? `, took ${time(found.length)}` : "";
      tip.replaceChildren(title, ...[["at", `${time(found.start)}${took}`], ...found.lines].map(([name, text]) => {
        const row = document.createElement("span");
        row.textContent = `${name}: ${text}`;
        return row;
      }));
      const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4);
      const under = event.clientY + 14, above = event.clientY - 14 - tip.offsetHeight;
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = Math.max(4, under + tip.offsetHeight < innerHeight ? under : above) + "px";
    }
    redraw();
  }

  // ---- moving ----

  function look(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), end * 1.02);
    view.from = Math.min(Math.max(from, -0.01 * end), end * 1.01 - span);
    view.to = view.from + span;
    redraw();
  }

  function zoom(factor, middle = width / 2) {
    const at = ns(middle);
    look(at - (at - view.from) / factor, at + (view.to - at) / factor);
  }
  const move = (share) => look(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  const everything = () => look(0, end);

  const pointers = new Map();
  let moved = 0;
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
  const under = (event) => find(place(event), event.clientY - canvas.getBoundingClientRect().top);

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) {
      if (!tip.classList.contains("kept")) show(under(event), event);
      return;
    }
    const before = [...pointers.values()];
    pointers.set(event.pointerId, place(event));
    const after = [...pointers.values()];
    moved += Math.abs(after[0] - before[0]);
    const apart = ([left, right]) => Math.max(1, Math.abs(left - right));
    if (after.length === 2) zoom(apart(after) / apart(before), (after[0] + after[1]) / 2);
    else move((before[0] - after[0]) / width);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (pointers.delete(event.pointerId) && moved < 4) {
      const found = under(event);
      tip.classList.toggle("kept", found !== null);
      show(found, event);
    }
  });
  canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", (event) => {
    if (!tip.classList.contains("kept")) show(null, event);
  });
  canvas.addEventListener("dblclick", (event) => zoom(4, place(event)));
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(2 ** (-event.deltaY / 200), place(event));
    else if (event.shiftKey || event.deltaX) move((event.deltaX || event.deltaY) / width);
    else return;
    event.preventDefault();
  }, {passive: false});
  const keys = {
    "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), "0": everything,
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
  };
  box.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    keys[event.key]();
    event.preventDefault();
  });
  document.getElementById("closer").addEventListener("click", () => zoom(2));
  document.getElementById("farther").addEventListener("click", () => zoom(0.5));
  document.getElementById("all").addEventListener("click", everything);
  document.addEventListener("click", (event) => { // a time in a table
    const start = event.target.dataset.start;
    if (start === undefined) return;
    const margin = Math.max(Number(event.target.dataset.length), end / 100);
    look(Number(start) - margin, Number(start) + Number(event.target.dataset.length) + margin);
    box.scrollIntoView({block: "nearest"});
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    tip.classList.remove("kept");
    show(null, event);
  });
  box.addEventListener("scroll", redraw);
  new ResizeObserver(redraw).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readTheme();
    redraw();
  });
  readTheme();
  draw();
})();
