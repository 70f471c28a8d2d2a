// Interactive pictures of a report: unpacks the numbers of each figure and replaces its drawing.
(() => {
"use strict";

const FACTOR = 2;
const HEIGHT = {one: 300, several: 170};
const groups = new Map();
const root = document.documentElement;
const live = [];

// Numbers.

// Decodes the cumulative sums of packed differences, each of some bytes.
async function unpack(text, width, count) {
  const packed = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const steps = new Uint32Array(count);
  const modulus = 256 ** width;
  let value = 0;
  for (let i = 0; i < count; i++) {
    let change = 0;
    for (let plane = width - 1; plane >= 0; plane--) change = change * 256 + bytes[plane * count + i];
    value = (value + change) % modulus;
    steps[i] = value;
  }
  return steps;
}

async function valuesOf(packed) {
  const steps = await unpack(packed.data, 2, packed.count);
  const values = new Float64Array(packed.count);
  for (let i = 0; i < packed.count; i++) {
    values[i] = steps[i] === 65535 ? NaN : packed.low + packed.step * steps[i];
  }
  return values;
}

async function placesOf(packed) {
  const steps = packed.data ? await unpack(packed.data, 4, packed.count) : null;
  const places = new Float64Array(packed.count);
  for (let i = 0; i < packed.count; i++) places[i] = packed.low + packed.step * (steps ? steps[i] : i);
  return places;
}

// Lowest and highest values of blocks of 1, 2, 4, 8 and so on values.
function levelsOf(values) {
  const levels = [{low: values, high: values}];
  while (levels.at(-1).low.length > 2 * FACTOR) {
    const {low, high} = levels.at(-1);
    const count = Math.ceil(low.length / FACTOR);
    const next = {low: new Float64Array(count).fill(NaN), high: new Float64Array(count).fill(NaN)};
    for (let i = 0; i < low.length; i++) {
      const block = (i / FACTOR) | 0;
      if (!(low[i] >= next.low[block]) && !isNaN(low[i])) next.low[block] = low[i];
      if (!(high[i] <= next.high[block]) && !isNaN(high[i])) next.high[block] = high[i];
    }
    levels.push(next);
  }
  return levels;
}

// Index of the first place that is not below a value.
function firstFrom(places, value) {
  let low = 0, high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// Columns of a panel from one x coordinate to another, with at most a few points for each pixel.
function viewOf(chart, columns, from, to, width) {
  const begin = Math.max(firstFrom(chart.places, from) - 1, 0);
  const end = Math.min(firstFrom(chart.places, to) + 1, chart.places.length);
  let level = 0, stretch = 1;
  const isThinned = !chart.names.length && columns.every(each => each.levels);
  while (isThinned && (end - begin) / stretch > width) { level++; stretch *= FACTOR; }
  if (level && level >= columns[0].levels.length) { level = columns[0].levels.length - 1; stretch = FACTOR ** level; }
  if (!level) {
    const cut = values => Array.from(values.subarray(begin, end), value => value === value ? value : null);
    return [Array.from(chart.places.subarray(begin, end)), ...columns.map(each => cut(each.values))];
  }
  const first = Math.floor(begin / stretch), last = Math.ceil(end / stretch);
  const places = [];
  for (let i = first; i < last; i++) {
    const middle = Math.min(i * stretch + (stretch >> 1), chart.places.length - 1);
    places.push(chart.places[i * stretch], chart.places[middle]);
  }
  const nullIfNan = value => isNaN(value) ? null : value;
  const pairsOf = ({low, high}) => {
    const pairs = [];
    for (let i = first; i < last; i++) pairs.push(nullIfNan(low[i]), nullIfNan(high[i]));
    return pairs;
  };
  return [places, ...columns.map(column => pairsOf(column.levels[level]))];
}

// Looks.

const styleOf = name => getComputedStyle(root).getPropertyValue(name).trim();
const shadeOf = colour => styleOf("--h" + colour.slice(1).toLowerCase()) || colour;

function clear(colour, share) {
  const parts = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},${share})`;
}

function element(tag, attributes, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "click") made.addEventListener("click", value); else made.setAttribute(name, value);
  }
  made.append(...inside);
  return made;
}

const number = (value, digits) => value.toLocaleString("en", {
  minimumFractionDigits: 0, maximumFractionDigits: digits, useGrouping: false,
});
const named = (label, unit) => unit ? `${label}, ${unit}` : label;

// Bars of intervals, drawn over points.
function drawIntervals(plot, panel) {
  const {ctx} = plot;
  const inside = plot.bbox;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(inside.left, inside.top, inside.width, inside.height);
  ctx.clip();
  ctx.lineWidth = 1.4 * pixel;
  const {names, places} = plot.chart;
  panel.columns.forEach((each, at) => {
    if (each.series.look === "line" || each.series.look === "area" || !each.low || !plot.series[at + 1].show) return;
    ctx.strokeStyle = shadeOf(each.series.colour);
    // Series at the same place stand beside each other.
    const aside = names.length ? (at - (panel.columns.length - 1) / 2) * 7 * pixel : 0;
    each.values.forEach((value, place) => {
      if (value !== value) return;
      const x = plot.valToPos(places[place], "x", true) + aside;
      const y = plot.valToPos(value, "y", true);
      ctx.beginPath();
      ctx.moveTo(x, plot.valToPos(each.low[place], "y", true));
      ctx.lineTo(x, plot.valToPos(each.high[place], "y", true));
      if (each.left) {
        const floor = plot.scales.x.distr === 3 ? plot.scales.x.min : -Infinity;
        ctx.moveTo(plot.valToPos(Math.max(each.left[place], floor), "x", true), y);
        ctx.lineTo(plot.valToPos(each.right[place], "x", true), y);
      }
      ctx.stroke();
      if (!names.length) return;
      ctx.beginPath();
      ctx.arc(x, y, each.series.size / 2 * pixel, 0, 2 * Math.PI);
      ctx.fillStyle = ctx.strokeStyle;
      ctx.fill();
    });
  });
  ctx.restore();
}

function seriesOf(each, isNamed) {
  const {series} = each;
  const colour = shadeOf(series.colour);
  const made = {label: series.label, stroke: colour, width: 1.5, show: each.shown, spanGaps: false};
  if (series.dash.length) made.dash = series.dash.map(length => length * 1.5);
  if (series.look === "points" || series.look === "joined") {
    made.points = {show: !isNamed, size: series.size, fill: colour, stroke: colour, width: 0};
    if (series.look === "points") made.paths = () => null;
  } else {
    made.points = {show: false};
  }
  if (series.holds) made.paths = uPlot.paths.stepped({align: 1});
  if (series.look === "area") {
    made.fill = colour;
    made.width = 0;
    made.paths = uPlot.paths.stepped({align: 1});
  }
  return made;
}

// Panels.

function optionsOf(chart, panel, width, isLast) {
  const ink = styleOf("--faint"), rule = styleOf("--rule");
  const axis = {stroke: ink, grid: {stroke: rule, width: 1}, ticks: {stroke: rule, width: 1}, font: "12px system-ui, sans-serif"};
  const across = {...axis, size: isLast ? 30 : 8, labelSize: 20, labelFont: "12px system-ui, sans-serif"};
  if (isLast) across.label = named(chart.label, chart.unit);
  if (chart.names.length) {
    const apart = Math.max(1, Math.ceil(chart.names.length * 70 / width));
    across.splits = () => chart.names.map((_, at) => at).filter(at => at % apart === 0);
    across.values = (_, places) => places.map(place => chart.names[place] ?? "");
  } else {
    across.values = (_, places) => places.map(place => place === null ? "" : number(place, 6));
  }
  if (chart.log) across.splits = (_, __, low, high) => decadesOf(low, high);
  if (!isLast) across.values = (_, places) => places.map(() => "");
  const bands = panel.bands.map(([high, low, colour]) => ({series: [high, low], fill: clear(shadeOf(colour), 0.18)}));
  return {
    width,
    height: (chart.panels.length > 1 ? HEIGHT.several : HEIGHT.one) + (isLast ? 24 : 0),
    padding: [8, 12, 0, 0],
    legend: {show: false},
    scales: {
      x: {time: false, distr: chart.log ? 3 : 1, range: (_, low, high) => [low, high]},
      y: {range: (plot, low, high) => rangeOf(chart, panel, low, high)},
    },
    axes: [across, {...axis, size: 54, values: (_, places) => places.map(place => number(place, 6))}],
    series: [{}, ...panel.drawn.map(each => seriesOf(each, chart.names.length > 0))],
    bands,
    cursor: {
      sync: {key: chart.group, setSeries: false, scales: ["x", null]},
      drag: {x: true, y: false, setScale: false},
      points: {show: false},
      bind: {dblclick: () => () => { zoom(chart.group, null); return null; }},
    },
    select: {show: true},
    hooks: {
      setSelect: [plot => {
        if (plot.select.width < 4) return;
        const from = plot.posToVal(plot.select.left, "x");
        const to = plot.posToVal(plot.select.left + plot.select.width, "x");
        plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
        zoom(chart.group, [from, to]);
      }],
      setCursor: [plot => showValues(chart, panel, plot)],
      draw: [plot => drawIntervals(plot, panel)],
    },
  };
}

// Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten.
function decadesOf(low, high) {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10) {
    for (const first of [1, 2, 5]) if (first * decade >= low && first * decade <= high) ticks.push(first * decade);
  }
  return ticks;
}

function rangeOf(chart, panel, low, high) {
  if (low === null || high === null) return [0, 1];
  if (chart.names.length) {
    panel.columns.filter(each => each.shown && each.low).forEach(each => {
      each.low.forEach(value => { if (value < low) low = value; });
      each.high.forEach(value => { if (value > high) high = value; });
    });
    if (low < 0) return [low + 0.06 * (low - Math.max(high, 0)), Math.max(high, 0) + 0.06 * (Math.max(high, 0) - low)];
  }
  const bottom = panel.bottom ?? Math.min(low < 0 ? 1.05 * low : 0, 0);
  let top = panel.top !== null && !chart.range ? panel.top : high + 0.06 * (high - bottom);
  if (panel.top !== null && panel.bottom !== null) top = panel.top;
  return [bottom, top > bottom ? top : bottom + 1];
}

// Shows the values at the x coordinate that is nearest to the cursor.
function showValues(chart, panel, plot) {
  const {left} = plot.cursor;
  if (left === undefined || left < 0 || plot.cursor.idx === null) { panel.told.replaceChildren(panel.title.cloneNode(true)); return; }
  let place = firstFrom(chart.places, plot.posToVal(left, "x"));
  const toPixel = each => plot.valToPos(chart.places[each], "x");
  if (place >= chart.places.length || (place > 0 && left - toPixel(place - 1) < toPixel(place) - left)) place--;
  const x = chart.names.length ? chart.names[place] : number(chart.places[place], chart.digits) + (chart.unit ? " " + chart.unit : "");
  const texts = [panel.title.cloneNode(true), element("b", {}, x)];
  panel.columns.forEach(each => {
    const value = each.values[place];
    if (!each.shown || value !== value) return;
    const swatch = element("span", {class: "shade"});
    swatch.style.background = shadeOf(each.series.colour);
    const unit = panel.unit ? " " + panel.unit : "";
    const ends = each.low && each.low[place] === each.low[place] && each.low[place] !== each.high[place]
      ? ` (${number(each.low[place], panel.digits)} to ${number(each.high[place], panel.digits)})` : "";
    const at = each.left ? ` at ${x}` : "";
    texts.push(element("span", {}, swatch, `${each.series.label} `, element("b", {}, number(value, panel.digits) + unit), at + ends));
  });
  panel.told.replaceChildren(...texts);
}

function refresh(chart) {
  const first = chart.places[0], last = chart.places.at(-1);
  const margin = chart.names.length ? 0.5 : 0;
  const whole = chart.log ? [first / 1.3, last * 1.15] : chart.isPoints ? [Math.min(0, first), last * 1.06] : [first - margin, last + margin];
  const [from, to] = chart.range ?? whole;
  chart.panels.forEach(panel => {
    panel.plot.batch(() => {
      panel.plot.setData(viewOf(chart, panel.drawn, from, to, panel.plot.width), false);
      panel.plot.setScale("x", {min: from, max: to});
    });
  });
}

function zoom(group, range) {
  const charts = groups.get(group);
  const begun = performance.now();
  charts.forEach(chart => { chart.range = range; refresh(chart); });
  requestAnimationFrame(() => { root.dataset.zoom = (performance.now() - begun).toFixed(1); });
}

// Zooms by a factor around the middle, or moves by a share of the width.
function step(chart, factor, share) {
  const first = chart.places[0], last = chart.places.at(-1);
  const scale = chart.panels[0].plot.scales.x;
  const width = (scale.max - scale.min) * factor;
  const middle = (scale.max + scale.min) / 2 + share * width;
  const from = Math.max(middle - width / 2, first - 0.5 * (chart.names.length > 0));
  const to = Math.min(middle + width / 2, last + 0.5 * (chart.names.length > 0));
  if (to > from) zoom(chart.group, [from, to]);
}

// Arranges the series of a panel for uPlot, in which the edges of bands are series of their own.
function arrange(panel) {
  panel.drawn = [...panel.columns];
  panel.bands = [];
  panel.columns.forEach(each => {
    if (each.series.look !== "line" || !each.low) return;
    const edge = values => ({values, levels: levelsOf(values), shown: each.shown, of: each, series: {...each.series, dash: []}});
    panel.drawn.push(edge(each.high), edge(each.low));
    panel.bands.push([panel.drawn.length - 1, panel.drawn.length, each.series.colour]);
  });
}

function build(chart) {
  const width = Math.max(chart.place.clientWidth, 240);
  chart.panels.forEach((panel, at) => {
    panel.plot?.destroy();
    const options = optionsOf(chart, panel, width, at === chart.panels.length - 1);
    panel.drawn.forEach((each, number) => {
      if (each.of) { options.series[number + 1].width = 0; options.series[number + 1].show = each.of.shown; }
    });
    const empty = [[], ...panel.drawn.map(() => [])];
    panel.plot = new uPlot(options, empty, panel.place);
    panel.plot.chart = chart;
  });
  chart.width = width;
  refresh(chart);
}

// A button for each label; series of one label are shown and hidden together.
function legendOf(chart) {
  const labels = new Map();
  chart.panels.forEach(panel => panel.columns.forEach(each => {
    const label = each.series.label.replace(/, run$/, "");
    labels.set(label, [...(labels.get(label) ?? []), each]);
  }));
  return [...labels].map(([label, columns]) => {
    const swatch = element("span", {class: "shade"});
    swatch.style.background = `var(--h${columns[0].series.colour.slice(1).toLowerCase()})`;
    const button = element("button", {type: "button", "aria-pressed": String(columns[0].shown), click: () => {
      const isShown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(isShown));
      columns.forEach(each => { each.shown = isShown; });
      chart.panels.forEach(panel => panel.drawn.forEach((each, at) => {
        if (columns.includes(each.of ?? each)) panel.plot.setSeries(at + 1, {show: isShown});
      }));
    }}, swatch, label);
    return button;
  });
}

function toolsOf(chart) {
  const tool = (text, words, click) => element("button", {type: "button", title: words, "aria-label": words, click}, text);
  return [
    tool("+", "Zoom in", () => step(chart, 0.5, 0)),
    tool("\u2212", "Zoom out", () => step(chart, 2, 0)),
    tool("\u2190", "Earlier", () => step(chart, 1, -0.4)),
    tool("\u2192", "Later", () => step(chart, 1, 0.4)),
    tool("Reset", "Show everything", () => zoom(chart.group, null)),
  ];
}

async function makeInteractive(figure) {
  const chart = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
  chart.group = figure.dataset.group;
  chart.places = await placesOf(chart.x);
  chart.range = groups.get(chart.group)?.[0]?.range ?? null;
  for (const panel of chart.panels) {
    panel.columns = [];
    for (const series of panel.series) {
      const column = {series, shown: series.shown, values: await valuesOf(series.values)};
      if (series.look === "line" || series.look === "area") column.levels = levelsOf(column.values);
      for (const end of ["low", "high", "left", "right"]) if (series[end]) column[end] = await valuesOf(series[end]);
      panel.columns.push(column);
    }
    arrange(panel);
    panel.title = element("span", {}, named(panel.label, panel.unit));
    panel.told = element("div", {class: "told", "aria-live": "off"}, panel.title.cloneNode(true));
    panel.place = element("div", {class: "panel"});
  }
  chart.isPoints = chart.panels.every(panel => panel.columns.every(each => each.series.look === "points")) && !chart.names.length;
  chart.place = element("div", {class: "live"});
  const bar = element("div", {class: "bar"}, ...legendOf(chart), element("span", {class: "tools"}, ...toolsOf(chart)));
  const hint = element("div", {class: "hint"}, "Drag to zoom, double-click to show everything.");
  chart.place.append(bar, ...chart.panels.flatMap(panel => [panel.told, panel.place]), hint);
  figure.append(chart.place);
  figure.classList.add("is-live");
  groups.set(chart.group, [...(groups.get(chart.group) ?? []), chart]);
  live.push(chart);
  build(chart);
}

// Theme: that of the system, light, dark.

const themes = ["system", "light", "dark"];
const button = document.getElementById("theme");
button.hidden = false;
button.addEventListener("click", () => {
  const next = themes[(themes.indexOf(root.dataset.theme ?? "system") + 1) % themes.length];
  if (next === "system") delete root.dataset.theme; else root.dataset.theme = next;
  button.textContent = `Theme: ${next}`;
  live.forEach(build);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => live.forEach(build));

let waiting = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => live.forEach(chart => {
    if (chart.place.clientWidth && chart.place.clientWidth !== chart.width) build(chart);
  }));
});

// Figures become interactive when they come near to the window, one after another.
async function start() {
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const seen = new IntersectionObserver(async entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      await makeInteractive(entry.target);
      root.dataset.live = live.length;
    }
  }, {rootMargin: "600px"});
  root.dataset.figures = figures.length;
  figures.forEach(figure => seen.observe(figure));
}

if (window.DecompressionStream && window.uPlot) start();
})();
