// On a phone, a drawing gives way to its variant of one column, where that lies beside this page.
if (matchMedia("screen and (max-width: 34rem)").matches) {
  for (const place of document.querySelectorAll("[data-column]")) {
    const image = new Image();
    image.alt = place.firstElementChild.getAttribute("aria-label");
    image.onload = () => place.replaceChildren(image);
    image.src = place.dataset.column;
  }
}
